#pragma once

#include "dialect/dispatch/machine.h"

#include "mlir/IR/Operation.h"

namespace alula::dispatch {

/// About how many elementary steps an op takes, regions included; a loop counts
/// one round. Sizes that are not known count as large.
int64_t estimateWork(mlir::Operation *op);

/// What the code of an op has for an element, in operations as simple as an
/// addition.
int64_t getStepsOfElement(mlir::Operation *op);

/// Whether starting a kernel for so much work costs more than running it.
bool isSmallWork(int64_t work, const MachineFacts &machine);

} // namespace alula::dispatch
