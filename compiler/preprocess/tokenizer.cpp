// Commands as words. LLVM's own tokenizer drops empty words and accepts quotes
// that have no end.

#include "compiler/preprocess/tokenizer.h"

#include <optional>

using namespace llvm;

static Error makeError(const Twine &text) {
  return createStringError(std::make_error_code(std::errc::invalid_argument),
                           text);
}

namespace {
/// Reads one command from left to right.
struct Reader {
  StringRef text;
  size_t at = 0;
  /// The word that is being read; none between words.
  std::optional<std::string> word;

  std::string &getWord() {
    if (!word)
      word.emplace();
    return *word;
  }

  Error readEscaped() {
    if (at + 1 == text.size())
      return makeError("backslash at column " + Twine(at + 1) +
                       " has nothing to its right");
    getWord() += text[at + 1];
    at += 2;
    return Error::success();
  }

  Error readQuoted(char quote) {
    size_t start = at++;
    std::string &piece = getWord();
    while (at < text.size() && text[at] != quote) {
      if (quote == '"' && text[at] == '\\') {
        if (Error error = readEscaped())
          return error;
        continue;
      }
      piece += text[at++];
    }
    if (at == text.size())
      return makeError("quote at column " + Twine(start + 1) + " has no end");
    ++at;
    return Error::success();
  }
};
} // namespace

Expected<std::vector<std::string>>
alula::preprocess::tokenize(StringRef command) {
  if (size_t zero = command.find('\0'); zero != StringRef::npos)
    return makeError("column " + Twine(zero + 1) + " is a zero byte");
  std::vector<std::string> words;
  Reader reader{command, 0, std::nullopt};
  auto endWord = [&] {
    if (reader.word)
      words.push_back(std::move(*reader.word));
    reader.word.reset();
  };
  while (reader.at < command.size()) {
    char next = command[reader.at];
    Error error = Error::success();
    if (next == ' ' || next == '\t' || next == '\n') {
      endWord();
      ++reader.at;
    } else if (next == '\'' || next == '"') {
      error = reader.readQuoted(next);
    } else if (next == '\\') {
      error = reader.readEscaped();
    } else {
      reader.getWord() += next;
      ++reader.at;
    }
    if (error)
      return error;
  }
  endWord();
  if (words.empty())
    return makeError("command has no words");
  return words;
}

Expected<std::string>
alula::preprocess::fillPlaceholders(StringRef word,
                                    const Placeholders &values) {
  std::string filled;
  while (!word.empty()) {
    size_t brace = word.find_first_of("{}");
    filled += word.substr(0, brace);
    if (brace == StringRef::npos)
      break;
    word = word.substr(brace);
    if (word.starts_with("{{") || word.starts_with("}}")) {
      filled += word[0];
      word = word.drop_front(2);
      continue;
    }
    size_t end = word.find('}');
    StringRef name = word.substr(0, end == StringRef::npos ? end : end + 1);
    if (name == "{name}")
      filled += values.name;
    else if (name == "{target}")
      filled += values.target;
    else if (name == "{workdir}")
      filled += values.workdir;
    else
      return makeError("no such placeholder: '" + name +
                       "'; there are {name}, {target} and {workdir}, and {{ "
                       "and }} are braces");
    word = word.drop_front(name.size());
  }
  return filled;
}
