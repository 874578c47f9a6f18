#pragma once

#include "compiler/kernel/lowering.h"

#include "dialect/stablehlo/ops.h"

namespace alula::cpu {

/// A reduction of columns, and its epilogue, by the tile of its plan.
void reduceColumns(mlir::stablehlo::ReduceOp reduce,
                   kernel::Lowering &lowering);

} // namespace alula::cpu
