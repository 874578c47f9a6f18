#pragma once

#include "dialect/stablehlo/ops.h"

namespace alula::kernel {
class Lowering;

/// False, and nothing done, for a product that has to be loops of scalars.
bool emitBlockProduct(mlir::stablehlo::DotGeneralOp dot, Lowering &lowering);

} // namespace alula::kernel
