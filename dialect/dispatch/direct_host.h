// Names by which a host that is machine code, and calls kernels directly, and
// what makes the machine code know each other.

#pragma once

#include "llvm/ADT/StringRef.h"

namespace alula::dispatch {

/// The function that ends its caller with a code unless a condition holds:
/// (i1, i32).
inline constexpr llvm::StringLiteral failUnless = "alula.fail_unless";

/// What names of kernels begin with where the host calls them.
inline constexpr llvm::StringLiteral kernelPrefix = "kernel.";

} // namespace alula::dispatch
