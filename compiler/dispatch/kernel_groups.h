#pragma once

#include "dialect/dispatch/machine.h"

#include "mlir/IR/Block.h"
#include "llvm/ADT/SmallVector.h"

namespace alula::dispatch {

/// Ops that become one kernel, in program order. Their kernel runs where the
/// last one stands.
struct KernelGroup {
  llvm::SmallVector<mlir::Operation *> ops;
  /// Operations on elements that its code has.
  int64_t codeOps = 0;
  mlir::Operation *getLast() const { return ops.back(); }
};

/// Whether the code of a kernel may have so many operations on elements.
inline bool hasRoom(int64_t ops, const MachineFacts &machine) {
  return ops <= machine.kernelOps;
}

/// Every op of `block` that computes tensors in a kernel, in groups, in program
/// order.
llvm::SmallVector<KernelGroup> formKernelGroups(mlir::Block &block);

/// Constants, terminators, large control flow and what talks to the outside.
bool staysOnHost(mlir::Operation *op);

/// A constant that a kernel keeps in its own data.
bool isKernelConstant(mlir::Value value);

} // namespace alula::dispatch
