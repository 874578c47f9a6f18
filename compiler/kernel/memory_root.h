#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/ADT/MapVector.h"

namespace alula::kernel {

/// The memory that a buffer is a view of, or a pointer points into.
mlir::Value findRoot(mlir::Value buffer);

/// The memory that an op touches, and whether it may write it.
llvm::MapVector<mlir::Value, bool> findMemory(mlir::Operation *op);

/// Whether an op that has memory as an operand may write it; a pointer serves
/// for anything.
bool mayWrite(mlir::Operation *op);

} // namespace alula::kernel
