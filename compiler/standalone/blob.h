#pragma once

#include "compiler/standalone/header.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace alula::standalone {

/// Code that runs wherever it lies, and what is called of it.
struct Image {
  std::string bytes;
  /// Of the exported functions in the program's order, then of the one that
  /// gives the state its values.
  std::vector<uint64_t> entries;
  uint64_t alignment = 1;
};

/// A blob of alula/min.h. `target` is the instruction set.
llvm::Expected<std::string> writeBlob(const Program &program,
                                      const CodeFacts &facts,
                                      llvm::StringRef target,
                                      const Image &image);

} // namespace alula::standalone
