#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace alula::preprocess {

/// The words of `command`, split on blanks; no shell is asked. Text in single
/// quotes is literal. In double quotes and outside of quotes a backslash makes
/// the next character literal. Neighbouring pieces are one word; two quotes
/// with nothing in between are an empty one.
llvm::Expected<std::vector<std::string>> tokenize(llvm::StringRef command);

/// What stands for {name}, {target} and {workdir} in the words of a command.
struct Placeholders {
  std::string name, target, workdir;
};

/// `word` with its placeholders replaced; {{ and }} are braces.
llvm::Expected<std::string> fillPlaceholders(llvm::StringRef word,
                                             const Placeholders &values);

} // namespace alula::preprocess
