#pragma once

#include "dialect/stablehlo/ops.h"

namespace alula::optimize {

/// The branch that an if or case takes, where that is known.
mlir::Region *getKnownBranch(mlir::Operation *op);

/// Whether each round of a loop passes a value on as it came.
bool isOnlyCarried(mlir::stablehlo::WhileOp loop, unsigned number);

} // namespace alula::optimize
