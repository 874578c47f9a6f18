#pragma once

#include "compiler/kernel/plan/attention.h"

#include "mlir/IR/Block.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace alula::kernel {

/// From an op that works in blocks to the last op whose elements are computed
/// from its blocks, and back. That op is no longer inlined; the op itself is
/// lowered in its place.
struct Epilogues {
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> lastOf, producerOf;
  /// Whose epilogue an op belongs to.
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> ownerOf;
};

/// Whether elements of `op` are those of `product` at the same indices,
/// changed.
bool mayFollow(mlir::Operation *op, mlir::Operation *product);

Epilogues planEpilogues(mlir::Block &block,
                        llvm::DenseSet<mlir::Operation *> &inlined,
                        const Attentions &attentions);

} // namespace alula::kernel
