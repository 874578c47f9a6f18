#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseSet.h"

namespace alula::kernel {

/// Whether a tensor will lie in memory when what reads it is computed, if the
/// `inlined` ops of the reader's block have none.
bool isInMemory(mlir::Value tensor,
                const llvm::DenseSet<mlir::Operation *> &inlined);

} // namespace alula::kernel
