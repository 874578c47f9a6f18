#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace alula::driver {

/// What code is made for: `byDefault` if nothing is named, the levels behind
/// "cpu:portable", nothing twice. Machines of one instruction set come best
/// first, as the runtime takes the first that fits.
void settleTargets(std::vector<std::string> &targets,
                   llvm::StringRef byDefault);

/// The targets that variants are made for, best first: where those of
/// "cpu:portable" are among them and a kernel of `module` calls a routine that
/// multiplies bytes, also the levels that have instructions for it. Kernels
/// with objects of others are left as they are: the objects are for the
/// targets that were named.
std::vector<std::string> addByteLevels(mlir::ModuleOp module,
                                       llvm::ArrayRef<std::string> targets);

} // namespace alula::driver
