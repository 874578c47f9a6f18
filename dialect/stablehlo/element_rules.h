#pragma once

#include "mlir/IR/Operation.h"

#include <optional>

namespace mlir::stablehlo {

// Which elements of its operands an op needs for one of its results: what may
// share a loop.

/// Element i of the result is made of element i of each operand, or of its only
/// one, by the op or by its region.
bool keepsIndices(Operation *op);

/// The same, without a region.
bool isElementwise(Operation *op);

/// Whether something in a region reads a value from outside of it.
bool readsOutside(Region &region);

/// The op that a body of two arguments does to both, and nothing else; null if
/// there is more, or none.
Operation *findOnlyOp(Block &body);

/// Whether a broadcast says that a dimension of its operand has the size of the
/// result's.
bool isSaidToBeKept(Operation *broadcast, int64_t dim);

/// The sizes of the leading dimensions that a reduction keeps, if all the
/// others are reduced. Its rows are what these dimensions count. Some may only
/// be known to the call.
std::optional<ArrayRef<int64_t>> getReducedRows(Operation *op);

/// Whether row i of each result needs no other row than i of this operand. Both
/// have `rows`, the sizes of at least one dimension, in front: where only the
/// call knows one, it is the same in both.
bool keepsRows(OpOperand &use, ArrayRef<int64_t> rows);

} // namespace mlir::stablehlo
