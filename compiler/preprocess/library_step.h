#pragma once

#include "dialect/dispatch/library_call.h"

#include <optional>

namespace alula::preprocess {

/// Whether there is a library of this name, and whether it computes such a
/// pattern.
bool isLibrary(llvm::StringRef name);
bool hasPattern(llvm::StringRef library, llvm::StringRef pattern);

/// What the library is asked for, of an executable of one of its patterns;
/// nothing if its body says more than that.
std::optional<dispatch::LibraryCall>
describeCall(llvm::StringRef library, dispatch::ExecutableOp executable);

} // namespace alula::preprocess
