#pragma once

#include "mlir/IR/Block.h"

namespace alula::kernel {

/// Whether the body of a reduction of two inputs is known to give the same
/// however its elements are bracketed, as that of an argmax does: it only
/// compares and chooses.
bool isAssociative(mlir::Block &body);

/// Whether the elements may also change places: the body is one op that does
/// not round.
bool isUnordered(mlir::Block &body);

/// Whether lanes that move together may each reduce a part of a row, and then
/// exchange what they have.
bool isSharedByLanes(mlir::Operation *reduce, mlir::Block &body);
/// Whether neighbours in a row may be terms of neighbouring lanes.
bool isStridedByLanes(mlir::Operation *reduce, mlir::Block &body);

} // namespace alula::kernel
