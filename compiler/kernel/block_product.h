#pragma once

#include "dialect/stablehlo/ops.h"

namespace alula::kernel {
class Lowering;

/// The dimensions of one side that are neither batch nor contracted.
llvm::SmallVector<int64_t>
collectFreeDims(mlir::stablehlo::DotGeneralOp dot, bool isLhs);

/// False, and nothing done, for a product that has to be loops of scalars.
bool emitBlockProduct(mlir::stablehlo::DotGeneralOp dot, Lowering &lowering);

} // namespace alula::kernel
