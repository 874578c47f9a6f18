#pragma once

#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace alula::cpu {

/// Checks the exit of this target: an image that exports every entry as a
/// function and needs nothing: no other library, no missing symbol, no memory
/// that is both written and run.
llvm::Error verifyImage(llvm::StringRef image,
                        const std::vector<std::string> &entries);

} // namespace alula::cpu
