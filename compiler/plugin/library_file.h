// What a file shows of itself before any of its code runs.

#pragma once

#include "llvm/Support/Error.h"

namespace alula::plugin {

struct LibraryFile {
  /// It has our entry; it has the entry of MLIR's pass plugins.
  bool hasEntry = false, hasPassEntry = false;
  /// It may add command-line options of LLVM's when it is loaded.
  bool usesOptions = false;
};

/// Reads a shared library. What could not be loaded, or not next to us, is an
/// error: [plug-open], [plug-two-mlirs].
llvm::Expected<LibraryFile> readLibraryFile(llvm::StringRef path);

/// Why a file or folder that nobody named must not be trusted; or empty.
std::string findLooseness(llvm::StringRef path);

} // namespace alula::plugin
