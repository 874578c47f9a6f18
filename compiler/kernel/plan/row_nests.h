#pragma once

#include "compiler/kernel/plan/epilogue.h"
#include "dialect/plan/plan.h"

#include "mlir/IR/Block.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

namespace alula::kernel {

/// Ops of a block that share a loop over rows: a reduction of each row, and
/// what is computed from it and the row, as in a softmax or a norm.
struct RowNest {
  llvm::SmallVector<int64_t> rows;            ///< The sizes that count them.
  llvm::SetVector<mlir::Operation *> members; ///< In the order of the block.
  /// Where the results of each are.
  llvm::DenseMap<mlir::Operation *, plan::Memory> memory;
  /// Reductions in the loop that writes their operand.
  llvm::DenseSet<mlir::Operation *> fused;
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

/// The sizes of a tensor behind those that count rows.
llvm::ArrayRef<int64_t> getColumns(mlir::Value tensor, const RowNest &nest);
bool hasOneColumn(mlir::Value tensor, const RowNest &nest);
/// Whether each of the lanes that share a row may keep what it has of a
/// tensor's.
bool fitsLanes(mlir::Value tensor, const RowNest &nest, int64_t lanes);
/// Whether somebody outside of the nest reads it.
bool isReadOutside(mlir::Operation *op, const RowNest &nest);
/// Whether an op may share a loop over such rows.
bool mayShareRows(mlir::Operation *op, llvm::ArrayRef<int64_t> rows);

/// Whether lanes that move together may share the columns of an op that shares
/// a loop over rows with `others`: each reads what it has computed itself.
bool mayShareColumns(mlir::Operation *op, llvm::ArrayRef<int64_t> rows,
                     llvm::function_ref<bool(mlir::Operation *)> isOther);

/// Nests are lowered where their last members are; what needs one and is no
/// part of it is moved behind.
RowNests planRowNests(mlir::Block &block,
                      const llvm::DenseSet<mlir::Operation *> &inlined,
                      const Epilogues &epilogues, const Attentions &attentions);

} // namespace alula::kernel
