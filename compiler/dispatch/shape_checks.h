#pragma once

#include "mlir/IR/Operation.h"

namespace mlir::stablehlo {
class SizeArithmetic;
} // namespace mlir::stablehlo

namespace alula::dispatch {

class HostNumbers;

/// Asserts before an op what it asks of sizes that are not known, so that no
/// kernel reads what is not there.
void addShapeChecks(mlir::Operation *op, mlir::stablehlo::SizeArithmetic &sizes,
                    HostNumbers &numbers);

} // namespace alula::dispatch
