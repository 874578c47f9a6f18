#pragma once

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace alula::objects {

/// An executable whose code is in a file.
struct Substitution {
  std::string executable, path;
  /// The target that its name says it is for.
  std::string target;
  /// The kernel's name in the file, if it is another one.
  std::string entry;
};

/// "name=file" and "name=file,entry=kernel"; nothing if it is neither.
std::optional<Substitution> parseSubstitution(llvm::StringRef text);

/// Whether a file is taken for an object, by its name: .o, .bc, .ptx.
bool isObjectPath(llvm::StringRef path);

struct Substitutions {
  std::vector<Substitution> files;
  /// Folders whose objects are named after executables.
  std::vector<std::string> folders;
};

struct Options {
  /// Folders where files of objects are looked for.
  std::vector<std::string> searchPaths;
  /// Of code that takes the bindings of a source, and its own grid; and of code
  /// of our own, with the grid and the scratch that we have chosen for it.
  Substitutions sources, objects;
  /// Names that no executable has are errors, or else warnings.
  bool missingIsError = true;
  /// The version of CUDA that will load PTX; empty: not known.
  std::string cudaDriver;
};

} // namespace alula::objects
