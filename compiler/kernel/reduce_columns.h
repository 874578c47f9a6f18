#pragma once

#include "compiler/kernel/lowering.h"

#include "dialect/stablehlo/ops.h"

namespace alula::kernel {

/// A reduction of columns, and its epilogue, by the tile of its plan.
void reduceColumns(mlir::stablehlo::ReduceOp reduce, Lowering &lowering);

} // namespace alula::kernel
