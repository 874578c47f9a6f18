#pragma once

#include "mlir/IR/Operation.h"

namespace alula::dispatch {

class HostSizes;

/// Asserts before an op what it asks of sizes that are not known, so that no
/// kernel reads what is not there.
void addShapeChecks(mlir::Operation *op, HostSizes &sizes);

} // namespace alula::dispatch
