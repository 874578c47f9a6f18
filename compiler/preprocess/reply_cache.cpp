#include "compiler/preprocess/reply_cache.h"

#include "compiler/preprocess/tokenizer.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace alula::preprocess;

namespace {
constexpr StringLiteral magic = "alula reply 1\n";

std::string hash(StringRef text) {
  SHA256 sha;
  sha.update(text);
  return toHex(sha.final(), /*LowerCase=*/true);
}

/// Empty if it is no file.
std::string hashFile(const Twine &path) {
  if (!sys::fs::is_regular_file(path))
    return "";
  auto file = MemoryBuffer::getFile(path, /*IsText=*/false,
                                    /*RequiresNullTerminator=*/false);
  return file ? hash((*file)->getBuffer()) : "";
}

/// With its length in front nothing can pass for two.
void append(std::string &text, StringRef part) {
  text += std::to_string(part.size()) + ":";
  text += part;
}
} // namespace

ReplyCache::ReplyCache(const Options &options, const Step &step)
    : folder(options.cacheDirectory) {
  if (folder.empty())
    return;
  append(prefix, "protocol 2");
  words = step.words;
  for (StringRef word : words)
    append(prefix, word);
  auto file = MemoryBuffer::getFile(step.path, /*IsText=*/false,
                                    /*RequiresNullTerminator=*/false);
  if (!file) {
    folder.clear();
    return;
  }
  append(prefix, hash((*file)->getBuffer()));
  append(prefix, options.bytecode ? "bytecode" : "text");
  for (const std::string &name : options.cacheVariables) {
    const char *value = getenv(name.c_str());
    append(prefix, name);
    append(prefix, value ? value : "");
  }
}

std::string ReplyCache::makeKey(StringRef bytecode, StringRef executable,
                                StringRef targets) const {
  std::string text = prefix;
  append(text, executable);
  append(text, targets);
  append(text, hash(bytecode));
  // python3 TOOL.py --table=FILE: what they hold counts, too.
  for (StringRef word : words) {
    auto filled = fillPlaceholders(word, {executable.str(), targets.str(), ""});
    if (!filled) {
      consumeError(filled.takeError());
      continue;
    }
    append(text, hashFile(*filled));
    append(text, hashFile(StringRef(*filled).split('=').second));
  }
  return hash(text);
}

std::optional<ToolResult> ReplyCache::find(StringRef key) const {
  SmallString<128> path(folder);
  sys::path::append(path, key);
  auto file = MemoryBuffer::getFile(path, /*IsText=*/false,
                                    /*RequiresNullTerminator=*/false);
  if (!file)
    return std::nullopt;
  StringRef text = (*file)->getBuffer();
  if (!text.consume_front(magic))
    return std::nullopt;
  auto [head, output] = text.split('\n');
  auto [code, sum] = head.split(' ');
  ToolResult result;
  if (code.getAsInteger(10, result.code) || sum != hash(output))
    return std::nullopt;
  result.end = ToolEnd::Exit;
  result.output = output.str();
  return result;
}

void ReplyCache::add(StringRef key, const ToolResult &result) const {
  if (sys::fs::create_directories(folder))
    return;
  SmallString<128> path(folder);
  sys::path::append(path, key);
  // Whole or not at all: others may read it while it is written.
  consumeError(writeToOutput(path, [&](raw_ostream &os) {
    StringRef output = result.code == 0 ? result.output : StringRef();
    os << magic << result.code << ' ' << hash(output) << '\n' << output;
    return Error::success();
  }));
}
