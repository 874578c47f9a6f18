// Command lines of tools that have no LLVM.

#pragma once

#include "tools/options/table.h"

namespace alula::options {

struct Given {
  const Option *option;
  std::string_view value;
  bool hasValue;
};

struct CommandLine {
  std::vector<Option> options;
  std::vector<Given> given;
  /// What is no option, in order; "-" is none.
  std::vector<std::string_view> others;
};

/// Words as --name, --name=value and --name value, with one dash or two; after
/// "--" there are no more options. What is given refers to the words. False
/// with a sentence if a word is wrong.
bool parse(const Tool &tool, std::span<const std::string_view> words,
           CommandLine &line, std::string &error);
bool parse(const Tool &tool, int argc, const char *const *argv,
           CommandLine &line, std::string &error);

/// The only word that is no option; empty if there is none, false with a
/// sentence if there are several.
bool getFile(const CommandLine &line, std::string &file, std::string &error);

/// "--threads wants N, not 'x'"
std::string explainValue(const Given &given);

} // namespace alula::options
