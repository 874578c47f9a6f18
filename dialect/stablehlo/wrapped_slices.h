#pragma once

#include "dialect/stablehlo/ops.h"

namespace mlir::stablehlo {

/// A concatenation of pieces of one tensor that differ along its dimension
/// alone: roll(x) is slice(x), slice(x), wrapped padding has x between them.
struct WrappedSlices {
  Value source;
  /// For each piece: its first index in the result; how far from an index of
  /// the result that of the source is.
  SmallVector<int64_t> begins, distances;
  /// Where the pieces begin in the source, in all other dimensions.
  SmallVector<int64_t> starts;
};

/// Nothing for other concatenations, and unless all sizes are known.
std::optional<WrappedSlices> findWrappedSlices(ConcatenateOp op);

} // namespace mlir::stablehlo
