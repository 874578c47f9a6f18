#pragma once

#include "mlir/IR/Block.h"
#include "llvm/ADT/SmallVector.h"

namespace alula::dispatch {

/// Ops that become one kernel, in program order; the last one is the root,
/// whose results are the kernel's. No other result is used outside.
struct KernelGroup {
  llvm::SmallVector<mlir::Operation *> ops;
  mlir::Operation *getRoot() const { return ops.back(); }
};

/// Every op of `block` that computes tensors, in groups, in program order.
/// Constants and the terminator stay on the host.
llvm::SmallVector<KernelGroup> formKernelGroups(mlir::Block &block);

} // namespace alula::dispatch
