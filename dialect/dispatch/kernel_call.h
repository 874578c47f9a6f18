#pragma once

#include "llvm/ADT/StringRef.h"

namespace alula::dispatch {

/// The custom calls that the compiler has code for: linear algebra, by the
/// names that JAX and our package for it use. All others are the embedder's.
bool isKernelCall(llvm::StringRef name);

} // namespace alula::dispatch
