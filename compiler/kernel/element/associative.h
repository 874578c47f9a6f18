#pragma once

#include "mlir/IR/Block.h"

namespace alula::kernel {

/// Whether the body of a reduction of two inputs is known to give the same
/// however its elements are bracketed, as that of an argmax does: it only
/// compares and chooses.
bool isAssociative(mlir::Block &body);

} // namespace alula::kernel
