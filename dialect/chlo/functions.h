#pragma once

#include "mlir/IR/Operation.h"

namespace mlir::chlo {

/// erf and erfc: functions of one number that keep their name down to native
/// code. The reference computes them, and the kernel library has a function for
/// each.
bool isNamedFunction(Operation *op);

/// lgamma, zeta and the like, whose formulas are longer than what may share a
/// kernel otherwise. They keep their name until kernels are formed.
bool isSpecialFunction(Operation *op);

/// About how many ops of stablehlo an element takes: those of its formula for a
/// special function, else 1.
int64_t countFormulaOps(Operation *op);

/// What programs are made of after the input room: an op of stablehlo or one of
/// these functions. Other chlo ops are said in stablehlo early.
bool isTensorOp(Operation *op);

} // namespace mlir::chlo
