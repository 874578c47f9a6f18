#pragma once

#include "llvm/ADT/StringRef.h"

namespace alula::dispatch {

/// Of a kernel's function, as on its launches: for each result the argument
/// that it is computed in place over, or -1.
inline constexpr llvm::StringLiteral inPlaceName = "dispatch.in_place";

} // namespace alula::dispatch
