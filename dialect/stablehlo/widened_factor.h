#pragma once

#include "mlir/IR/Operation.h"

namespace mlir::stablehlo {

/// The ops that make an operand of a product from numbers of at most eight
/// bits, element by element, and that nothing else reads: convert(w) * scale,
/// with what moves elements between. Consumers first; none for other operands.
///
/// Computed in pieces when they are multiplied, such weights are never in
/// memory as what they stand for.
SmallVector<Operation *> findWidening(OpOperand &factor);

} // namespace mlir::stablehlo
