#pragma once

#include "dialect/stablehlo/ops.h"

namespace alula::kernel {
class Lowering;
} // namespace alula::kernel

namespace alula::cpu {

/// False, and nothing done, for a product that has to be loops of scalars.
bool emitBlockProduct(mlir::stablehlo::DotGeneralOp dot,
                      kernel::Lowering &lowering);

} // namespace alula::cpu
