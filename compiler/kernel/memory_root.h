#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/ADT/MapVector.h"

namespace alula::kernel {

/// The allocation that a buffer is a view of, or a pointer points into.
mlir::Value findRoot(mlir::Value buffer);

/// The allocations that an op accesses, and whether it may store to them.
llvm::MapVector<mlir::Value, bool> findMemory(mlir::Operation *op);

/// Whether an op with a buffer as an operand may store to it; of a pointer that
/// escapes, nothing is known.
bool mayWrite(mlir::Operation *op);

} // namespace alula::kernel
