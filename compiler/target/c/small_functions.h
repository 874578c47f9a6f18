#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"

#include <string>

namespace alula::c {

/// Small functions that the text calls, as C: those that are asked for, each
/// once, after those that they call themselves.
class Helpers {
public:
  /// The name of a helper for integers of so many bits, or for "f32", "f64".
  std::string use(llvm::StringRef name, llvm::StringRef type = "");
  std::string takeText() { return std::move(text); }

private:
  llvm::StringSet<> done;
  std::string text;
};

/// What stands at the beginning of every file.
extern const char *const prelude;

} // namespace alula::c
