#pragma once

#include "mlir/IR/Builders.h"

// Ops that several rooms make of others.

namespace mlir::stablehlo {

/// The sum over dimensions in any order, which begins with `zero`, a scalar of
/// the elements' type.
Value buildSum(OpBuilder &builder, Location location, Value operand, Value zero,
               ArrayRef<int64_t> dims);

/// The tensor with its dimensions in this order; itself if they are in it.
Value buildTranspose(OpBuilder &builder, Location location, Value tensor,
                     ArrayRef<int64_t> order);

} // namespace mlir::stablehlo
