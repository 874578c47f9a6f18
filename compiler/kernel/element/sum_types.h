#pragma once

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"

// What sums and products are computed in.

namespace alula::kernel {

/// What products of elements are summed in: no narrower than f32.
mlir::Type getSumType(mlir::Type element);

/// What a reduction of an op keeps its sum of floats in; null if its body is
/// anything but the sum of its two arguments.
mlir::Type getFloatSumType(mlir::Operation *op, mlir::Block &body);

/// The op of a body that is the sum, the larger or the smaller of its two
/// arguments, or in a reduce their product, where these are floats; null for
/// any other.
mlir::Operation *findFloatFold(mlir::Operation *op, mlir::Block &body);

/// What the library does for a product or convolution.
struct ProductTypes {
  /// Of the elements that it reads; null for what it can't do.
  mlir::Type left, right;
  /// Of sums, as they are in memory: f32, f64, i32 or i64.
  mlir::Type sum;

  explicit operator bool() const { return bool(sum); }
};

/// Reals are summed in f32 or f64, products of bytes modulo 2^32. Other
/// integers are summed as reals, if every sum is exact, else modulo 2^32 or
/// 2^64.
ProductTypes getProductTypes(mlir::Operation *op);

} // namespace alula::kernel
