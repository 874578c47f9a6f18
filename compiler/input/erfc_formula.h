#pragma once

#include "dialect/stablehlo/ops.h"

namespace alula::input {

/// JAX spells out erfc of f32 in exported programs, always in the same
/// operations, with the polynomials of Cephes' ndtrf.c. If `root` is the last
/// of them, this is the argument.
mlir::Value findErfcArgument(mlir::stablehlo::SelectOp root);

} // namespace alula::input
