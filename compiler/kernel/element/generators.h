#pragma once

#include "mlir/IR/Operation.h"

namespace alula::kernel {

/// Whether an element of the op's result can be computed by itself, from
/// elements of its operands.
bool hasGenerator(mlir::Operation *op);

} // namespace alula::kernel
