#pragma once

#include "mlir/IR/Builders.h"

// Ops that several rooms make of others.

namespace mlir::stablehlo {

/// A 0-dimensional constant that holds zero, of any element type of the
/// language. Null for a type that has none, such as one quantized per axis.
Value buildZero(OpBuilder &builder, Location location, Type elementType);

/// The sum over dimensions, in any order, of elements that have a zero.
Value buildSum(OpBuilder &builder, Location location, Value operand,
               ArrayRef<int64_t> dims);

/// The tensor with its dimensions in this order; itself if they are in it.
Value buildTranspose(OpBuilder &builder, Location location, Value tensor,
                     ArrayRef<int64_t> order);

} // namespace mlir::stablehlo
