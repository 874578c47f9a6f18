#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/StringMap.h"

// How the threads of a launch share what a kernel does.

namespace alula::kernel {

/// The loop inside of a loop that is all that each iteration does, but for
/// what may be computed again; null if there is more.
mlir::scf::ParallelOp findOnlyLoop(mlir::scf::ParallelOp loop);

/// A loop whose iterations are each done by a whole workgroup: its threads all
/// follow it, share the loops inside that have no order, and do all else alike.
/// What they must wait for is in the loop.
void setForWorkgroups(mlir::scf::ParallelOp loop);
bool isForWorkgroups(mlir::scf::ParallelOp loop);

/// Whether an op changes memory that several threads see.
bool changesShared(mlir::Operation *op);

class ThreadSharing {
public:
  explicit ThreadSharing(mlir::func::FuncOp function);

  mlir::OpBuilder builder;

  /// The number of this thread in the whole grid, and how many there are.
  mlir::Value getGridThread() { return ask("alula_grid_thread"); }
  mlir::Value getGridThreads() { return ask("alula_grid_threads"); }

  /// Either each of the threads of a grid goes over some iterations of the
  /// loops, or those of one workgroup follow the control flow together.
  mlir::LogicalResult run(bool isGrid);

private:
  mlir::Value ask(llvm::StringRef name);
  mlir::func::FuncOp declare(llvm::StringRef name, bool hasResult);
  void wait(mlir::Location location);
  void shareLoop(mlir::scf::ParallelOp loop, mlir::Value thread,
                 mlir::Value threads);
  /// The same for workgroups.
  void shareWorkgroups(mlir::scf::ParallelOp loop, mlir::Value number,
                       mlir::Value count);
  mlir::LogicalResult shareBlock(mlir::Block &block);
  mlir::LogicalResult shareOp(mlir::Operation *op);
  void doByFirst(llvm::ArrayRef<mlir::Operation *> ops,
                 mlir::Operation *before);

  mlir::func::FuncOp function;
  llvm::StringMap<mlir::Value> asked;
};

} // namespace alula::kernel
