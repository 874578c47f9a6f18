#pragma once

#include "mlir/IR/Operation.h"

namespace alula::dispatch {

/// About how many elementary steps an op takes, regions included; a loop counts
/// one round. Sizes that are not known count as large.
int64_t estimateWork(mlir::Operation *op);

/// Below this, starting a kernel costs more than running one.
constexpr int64_t smallWork = 1 << 15;

} // namespace alula::dispatch
