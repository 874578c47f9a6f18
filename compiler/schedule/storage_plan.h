#pragma once

#include "compiler/schedule/live_range.h"
#include "compiler/schedule/parallel_copy.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

namespace alula::schedule {

/// Bytes that values share. Memory of one kind and number is one memory.
struct Memory {
  enum class Kind { Argument, Result, Constant, Global, Arena, Local } kind;
  /// Of an argument or a result its number, in the arena its offset.
  int64_t number = 0;
  int64_t bytes = 0;
  /// Of a constant its value, of a global its name.
  mlir::Attribute constant = {};
  bool isWritable = true;
};

/// A move between memories before an op does its work; `value` says how many
/// bytes.
struct PlannedMove {
  Move::Kind kind;
  int source, target;
  mlir::Value value;
};

/// Where every tensor of a host function lives, and what has to be moved: what
/// `planStorage` says.
class StoragePlan {
public:
  int getMemoryNumber(mlir::Value value) const;
  const Memory &getMemory(int number) const { return memories[number]; }
  /// Moves before a launch, a call, a loop's entry or a block's end.
  llvm::ArrayRef<PlannedMove> getMoves(mlir::Operation *op) const;
  /// Local memories that nobody needs after an op; before it, if it ends a
  /// block.
  llvm::ArrayRef<int> getFrees(mlir::Operation *op) const;
  int64_t getArenaBytes() const { return arenaBytes; }

private:
  friend class StoragePlanner;
  llvm::DenseMap<mlir::Value, int> numbers;
  llvm::SmallVector<Memory> memories;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<PlannedMove>> moves;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<int>> frees;
  int64_t arenaBytes = 0;
};

} // namespace alula::schedule
