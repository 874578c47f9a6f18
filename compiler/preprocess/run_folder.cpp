#include "compiler/preprocess/run_folder.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>

using namespace llvm;
using namespace alula::preprocess;

namespace {
/// A word as a shell reads it.
std::string quote(StringRef word) {
  std::string quoted = "'";
  for (char c : word)
    if (c == '\'')
      quoted += "'\\''";
    else
      quoted += c;
  return quoted + "'";
}

std::string getFolder() {
  SmallString<128> folder;
  sys::fs::current_path(folder);
  return folder.str().str();
}

std::string makeScript(const ToolRun &run, StringRef folder) {
  std::string script = "#!/bin/sh\ncd " + quote(getFolder()) + " || exit 1\n";
  for (StringRef variable : run.environment) {
    auto [name, value] = variable.split('=');
    script += "export " + name.str() + "=" + quote(value) + "\n";
  }
  script += "exec " + quote(run.path);
  for (const std::string &word : ArrayRef(run.words).drop_front())
    script += " " + quote(word);
  return script + " < " + quote((folder + "/stdin").str()) + "\n";
}

std::string makeJson(const ToolRun &run, const ToolResult &result) {
  json::Array words, environment;
  for (const std::string &word : run.words)
    words.push_back(json::fixUTF8(word));
  for (const std::string &variable : run.environment)
    environment.push_back(json::fixUTF8(variable));
  static constexpr const char *ends[] = {"exit", "signal", "timeout",
                                         "output-limit", "spawn"};
  json::Object object{{"path", json::fixUTF8(run.path)},
                      {"words", std::move(words)},
                      {"environment", std::move(environment)},
                      {"folder", json::fixUTF8(getFolder())},
                      {"end", ends[static_cast<unsigned>(result.end)]},
                      {"code", result.code},
                      {"seconds", result.seconds}};
  return formatv("{0:2}\n", json::Value(std::move(object))).str();
}
} // namespace

Expected<RunFolder> RunFolder::make() {
  SmallString<128> path;
  if (std::error_code error =
          sys::fs::createUniqueDirectory("alula-preprocess", path))
    return errorCodeToError(error);
  return RunFolder(path.str().str(), /*stays=*/false);
}

Expected<RunFolder> RunFolder::makeAt(std::string path) {
  if (std::error_code error = sys::fs::create_directories(path))
    return createFileError(path, error);
  return RunFolder(std::move(path), /*stays=*/true);
}

Expected<RunFolder> RunFolder::makeFor(StringRef home, unsigned step,
                                       StringRef executable) {
  if (home.empty())
    return make();
  // A symbol may have any character.
  std::string name = std::to_string(step) + "-";
  for (char c : executable)
    name += isAlnum(c) || c == '_' || c == '-' || c == '.' ? c : '_';
  SmallString<128> path(home);
  sys::path::append(path, name);
  return makeAt(path.str().str());
}

RunFolder::RunFolder(RunFolder &&other)
    : path(std::move(other.path)), stays(other.stays) {
  other.stays = true;
}

RunFolder::~RunFolder() {
  if (!stays)
    sys::fs::remove_directories(path, /*IgnoreErrors=*/true);
}

Error RunFolder::keep(const ToolRun &run, const ToolResult &result) {
  stays = true;
  std::pair<StringRef, std::string> files[] = {
      {"stdin", run.input},
      {"stdout", result.output},
      {"stderr", result.errors},
      {"command.json", makeJson(run, result)},
      {"rerun.sh", makeScript(run, path)}};
  for (auto &[name, text] : files) {
    SmallString<128> file(path);
    sys::path::append(file, name);
    std::error_code error;
    raw_fd_ostream os(file, error);
    if (!error) {
      os << text;
      os.close();
      error = os.error();
      os.clear_error();
    }
    if (!error && name == "rerun.sh")
      error = sys::fs::setPermissions(
          file, sys::fs::all_read | sys::fs::all_exe | sys::fs::owner_write);
    if (error)
      return createFileError(file, error);
  }
  return Error::success();
}

std::string alula::preprocess::describeEnd(const ToolResult &result,
                                           const ToolLimits &limits) {
  switch (result.end) {
  case ToolEnd::Exit:
    return formatv("exited with status {0}", result.code);
  case ToolEnd::Signal: {
    std::string name;
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 32)
    if (const char *known = sigabbrev_np(result.code))
      name = std::string("SIG") + known;
#endif
    return formatv("was ended by signal {0}, {1}{2}", result.code,
                   name.empty() ? strsignal(result.code) : name,
                   result.dumpedCore ? " (core dumped)" : "");
  }
  case ToolEnd::Timeout:
    return formatv("was ended after {0:f2} s: its limit is {1:f2} s",
                   result.seconds, limits.timeout.count() / 1000.0);
  case ToolEnd::OutputLimit:
    return formatv("has printed more than {0} bytes", limits.outputBytes);
  case ToolEnd::Spawn:
    return formatv("can't be started: {0}", strerror(result.code));
  }
  return "";
}
