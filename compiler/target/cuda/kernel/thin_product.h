#pragma once

#include "compiler/kernel/lowering.h"
#include "dialect/stablehlo/ops.h"

namespace alula::cuda {

/// Few rows times a matrix, of which every element is read once: false if it is
/// another product, or done in another way.
bool emitThinProduct(mlir::stablehlo::DotGeneralOp dot,
                     kernel::Lowering &lowering);

} // namespace alula::cuda
