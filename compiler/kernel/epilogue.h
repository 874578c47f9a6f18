#pragma once

#include "mlir/IR/Block.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace alula::kernel {

/// Ops that compute their result block by block. Elementwise ops that follow
/// them need not wait for the whole result.
bool worksInBlocks(mlir::Operation *op);

/// From an op that works in blocks to the last op whose elements are computed
/// from its blocks, and back. That op is no longer inlined; the op itself is
/// lowered in its place.
struct Epilogues {
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> lastOf, producerOf;
  /// Every op that belongs to one.
  llvm::DenseSet<mlir::Operation *> members;
};
Epilogues planEpilogues(mlir::Block &block,
                        llvm::DenseSet<mlir::Operation *> &inlined);

} // namespace alula::kernel
