#pragma once

#include "compiler/kernel/epilogue.h"

#include "mlir/IR/Block.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

namespace alula::kernel {

class Lowering;

/// Ops of a block that share a loop over rows: a reduction of each row, and what
/// is computed from it and the row, as in a softmax or a norm.
struct RowNest {
  llvm::SmallVector<int64_t> rows; ///< The sizes that count them.
  llvm::SetVector<mlir::Operation *> members; ///< In the order of the block.
};

struct RowNests {
  std::vector<RowNest> all;
  llvm::DenseMap<mlir::Operation *, size_t> numberOf;

  /// Null for an op that is in none.
  const RowNest *find(mlir::Operation *op) const {
    auto found = numberOf.find(op);
    return found == numberOf.end() ? nullptr : &all[found->second];
  }
};

/// Nests are lowered where their last members are; what needs one and is no part
/// of it is moved behind.
RowNests planRowNests(mlir::Block &block,
                      const llvm::DenseSet<mlir::Operation *> &inlined,
                      const Epilogues &epilogues);

void emitRowNest(const RowNest &nest,
                 const llvm::DenseSet<mlir::Operation *> &inlined,
                 Lowering &lowering);

} // namespace alula::kernel
