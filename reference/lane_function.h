// The scalar meaning of the elementwise ops, as functions over runs of cells.
// Whole tensors and the bodies of reduce, scatter, sort and map all end here.
#pragma once

#include "reference/element_type.h"

namespace alula::reference {

/// What a lane function may need to know beside its operands.
struct LaneInfo {
  /// Of the first operand, and of the result.
  Kind from;
  Kind to;
  /// Op-specific: exponent and mantissa bits of reduce_precision.
  int64_t first = 0;
  int64_t second = 0;
};

/// Computes n results from up to three operands of n cells. Results of
/// arithmetic are neither rounded nor wrapped: `roundTo` or `store` does that,
/// once. Operands may alias the result.
using LaneFunction = void (*)(const Cell *const *operands, Cell *result,
                              size_t n, const LaneInfo &info);

/// The function of a StableHLO op such as "add" on operands of a kind; null if
/// the op is not elementwise arithmetic or has no meaning on that kind.
/// (`compare`, `convert`, `bitcast_convert` and `reduce_precision` have their
/// own entries below.)
LaneFunction findLaneFunction(llvm::StringRef op, Kind kind);

enum class Direction : uint8_t { EQ, NE, GE, GT, LE, LT };
/// `totalOrder` ranks -NaN < -inf < … < -0 < +0 < … < inf < NaN.
LaneFunction findCompare(Direction direction, Kind kind, bool totalOrder);
LaneFunction findConvert(Kind from, Kind to);
LaneFunction getReducePrecision();
/// Both kinds have the same bit width.
LaneFunction getBitcast();

namespace detail {
LaneFunction findComplexFunction(llvm::StringRef op, Kind kind);
} // namespace detail

} // namespace alula::reference
