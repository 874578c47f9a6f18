// Files that appear whole or not at all.

#pragma once

#include "mlir/Support/LLVM.h"
#include "llvm/Support/Error.h"

#include <string>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace alula::driver {

/// Writes beside `path` and renames, so that who has the old file mapped keeps
/// it. "-" is standard output; what is no regular file is written as it is.
llvm::Error writeWhole(llvm::StringRef path,
                       llvm::function_ref<void(llvm::raw_ostream &)> write);

/// The same in `folder`, which is made.
llvm::Error
writeWholeInFolder(llvm::StringRef folder, llvm::StringRef name,
                   llvm::function_ref<void(llvm::raw_ostream &)> write);

/// `name` with what file systems dislike, and its own upper-case letters where
/// another name differs in nothing else, as %XX.
std::string escapeFileName(llvm::StringRef name);

} // namespace alula::driver
