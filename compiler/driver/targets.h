#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace alula::driver {

/// What code is made for: `byDefault` if nothing is named, the levels behind
/// "cpu:portable", nothing twice. Machines of one instruction set come best
/// first, as the runtime takes the first that fits.
void settleTargets(std::vector<std::string> &targets,
                   llvm::StringRef byDefault);

} // namespace alula::driver
