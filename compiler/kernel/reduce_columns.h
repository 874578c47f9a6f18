#pragma once

#include "compiler/kernel/lowering.h"

#include "dialect/stablehlo/ops.h"

namespace alula::kernel {

/// Whether neighbours in memory belong to different results.
bool reducesColumns(mlir::stablehlo::ReduceOp reduce);

/// Such a reduction, and its epilogue.
void reduceColumns(mlir::stablehlo::ReduceOp reduce, Lowering &lowering);

} // namespace alula::kernel
