#pragma once

#include "mlir/IR/Operation.h"

namespace mlir::chlo {

/// erf and erfc: functions of one number that keep their name from the input
/// room to native code. The reference computes them, and the kernel library
/// has a function for each. Other chlo ops are said in stablehlo early.
bool isNamedFunction(Operation *op);

/// What programs are made of after the input room: an op of stablehlo or one of
/// these functions.
bool isTensorOp(Operation *op);

} // namespace mlir::chlo
