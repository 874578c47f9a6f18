#pragma once

#include "dialect/plan/plan.h"
#include "dialect/stablehlo/ops.h"

// Ways to compute a sort, a scatter or a window, of which several are right.

namespace alula::kernel {

/// What its stage says; the usual way where nobody does.
plan::Way getWay(mlir::Operation *op);

/// The fastest that is possible; `Unsaid` for an op that has but one.
plan::Way chooseWay(mlir::Operation *op);

/// Why `op` can't be computed this way; empty if it can.
llvm::StringRef findWayProblem(mlir::Operation *op, plan::Way way);

/// A window over all that is before each element, or after it: each state comes
/// from its neighbour's.
struct WindowScan {
  size_t axis;
  bool isReverse;
};
std::optional<WindowScan> findScan(mlir::stablehlo::ReduceWindowOp op);

/// How many last axes have windows of the one element at the same place; none
/// if they have one element together.
size_t countPlainAxes(mlir::stablehlo::ReduceWindowOp op);

} // namespace alula::kernel
