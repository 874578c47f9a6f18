#pragma once

#include "compiler/schedule/live_range.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace alula::schedule {

/// Of a launch: it has the step of the op before it.
inline constexpr llvm::StringLiteral besideName = "dispatch.beside";

/// Numbers the ops of a host function in the order of its text. An op reads at
/// an even step and writes at the next one; arguments are there at step 0.
class Steps {
public:
  explicit Steps(mlir::func::FuncOp function);

  int64_t getBegin(mlir::Operation *op) const { return begins.lookup(op); }
  /// Of an op with regions, the step after them.
  int64_t getEnd(mlir::Operation *op) const { return ends.lookup(op); }
  /// How many loops are around an op.
  static unsigned getDepth(mlir::Operation *op);
  /// The last step that needs the bytes of a value, or -1. A use in a loop that
  /// the value enters from outside lasts as long as the loop.
  int64_t getLastUse(mlir::Value value) const;
  /// When the bytes of a value that an op has, or a region begins with, are
  /// needed.
  LiveRange getRange(mlir::Value value) const;
  /// The same for a value that a loop carries: arguments of both regions and
  /// the result are one.
  LiveRange getCarriedRange(mlir::Operation *whileOp, unsigned number) const;

private:
  void add(mlir::Block &block);

  llvm::DenseMap<mlir::Operation *, int64_t> begins, ends;
  int64_t next = 2;
};

} // namespace alula::schedule
