#include "tools/options/answer.h"

#include "tools/options/help.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <unistd.h>

namespace alula::options {

int fail(const Tool &tool, const std::string &text, int status) {
  fprintf(stderr, "%s: error: %s\n", tool.name, text.c_str());
  return status;
}

bool isOnTerminal(std::string_view path) {
  return path == "-" && isatty(STDOUT_FILENO);
}

std::string refuseTerminal(std::string_view what, std::string_view instead) {
  return std::string(what) +
         " is binary and standard output a terminal: " + std::string(instead);
}

int getReadStatus(const std::string &path) {
  return path != "-" && access(path.c_str(), R_OK) ? NoFile : WrongInput;
}

static int print(const Tool &tool, const std::string &text) {
  if (fputs(text.c_str(), stdout) < 0 || fflush(stdout))
    return fail(tool, std::string("can't write: ") + strerror(errno), NoFile);
  return Fine;
}

static int printScript(const Tool &tool, std::string_view shell) {
  std::string script = printCompletion(tool, shell);
  return script.empty() ? fail(tool,
                               "--completion wants bash|zsh|fish, not '" +
                                   std::string(shell) + "'",
                               WrongUsage)
                        : print(tool, script);
}

std::optional<int> answer(const Tool &tool, int argc, const char *const *argv) {
  for (int i = 1; i < argc; ++i) {
    std::string_view word = argv[i];
    if (word == "--")
      break;
    if (word == "-h")
      return print(tool, printHelp(tool, Detail::Brief));
    if (!word.starts_with("-") || word == "-")
      continue;
    word.remove_prefix(word.starts_with("--") ? 2 : 1);
    if (word == "help")
      return print(tool, printHelp(tool, Detail::Brief));
    if (word == "help-all")
      return print(tool, printHelp(tool, Detail::Full));
    if (word == "help-man")
      return print(tool, printMan(tool));
    if (word == "version")
      return print(tool, printVersion(tool));
    if (word.starts_with("completion="))
      return printScript(tool, word.substr(word.find('=') + 1));
    if (word == "completion")
      return printScript(tool, i + 1 < argc ? argv[i + 1] : "");
  }
  return std::nullopt;
}

} // namespace alula::options
