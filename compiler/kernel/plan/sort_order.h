#pragma once

#include "dialect/stablehlo/ops.h"

namespace alula::kernel {

/// A comparator that says a < b, or a > b, of one number of each.
struct SortOrder {
  /// Of the first element, in the comparator.
  mlir::Value number;
  bool isDescending;
};

/// Nothing for a comparator that does anything else.
std::optional<SortOrder> findSortOrder(mlir::stablehlo::SortOp sort);

/// The dimension that is sorted, counted from the first one.
size_t getSortedDim(mlir::stablehlo::SortOp sort);

/// Whether the digits of its numbers can sort rows: they are of a known length,
/// not too long for places of 32 bits, and there is an order.
bool maySortByDigits(mlir::stablehlo::SortOp sort);

} // namespace alula::kernel
