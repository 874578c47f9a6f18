#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/MathExtras.h"

#include <optional>

namespace mlir::stablehlo {

// Arithmetic on sizes. Nothing where the result does not fit 64 bits.

inline std::optional<int64_t> addSizes(int64_t a, int64_t b) {
  int64_t sum;
  if (llvm::AddOverflow(a, b, sum))
    return std::nullopt;
  return sum;
}

inline std::optional<int64_t> multiplySizes(int64_t a, int64_t b) {
  int64_t product;
  if (llvm::MulOverflow(a, b, product))
    return std::nullopt;
  return product;
}

/// How many elements a static shape has. A zero makes it zero whatever the
/// other sizes are.
inline std::optional<int64_t> countElements(ArrayRef<int64_t> shape) {
  if (llvm::is_contained(shape, 0))
    return 0;
  std::optional<int64_t> count = 1;
  for (int64_t size : shape)
    if (!(count = multiplySizes(*count, size)))
      return std::nullopt;
  return count;
}

/// The size of a padded dimension: `size + low + high`, and `interior` more
/// between any two elements. May be negative.
inline std::optional<int64_t> padSize(int64_t size, int64_t low, int64_t high,
                                      int64_t interior) {
  std::optional<int64_t> between =
      multiplySizes(size > 0 ? size - 1 : 0, interior);
  std::optional<int64_t> sum = between ? addSizes(size, *between) : between;
  sum = sum ? addSizes(*sum, low) : sum;
  return sum ? addSizes(*sum, high) : sum;
}

} // namespace mlir::stablehlo
