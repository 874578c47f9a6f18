#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/StringMap.h"

// Distributes the iterations of a kernel's parallel loops over its threads.

namespace alula::kernel {

/// The inner loop of a loop that is perfectly nested but for ops that can be
/// rematerialized; null if there is none.
mlir::scf::ParallelOp findOnlyLoop(mlir::scf::ParallelOp loop);

/// A loop whose iterations are distributed over workgroups: the threads of one
/// execute it uniformly, share the parallel loops inside, and repeat all else.
/// Barriers between them stand inside of the loop. They are as many as the
/// machine says (`block_threads`), or `threads`, if it is a launch of its own.
void setForWorkgroups(mlir::scf::ParallelOp loop, int64_t threads = 0);
bool isForWorkgroups(mlir::scf::ParallelOp loop);
int64_t getWorkgroupThreads(mlir::scf::ParallelOp loop);
/// The same for groups of neighbouring threads, as many as move together
/// (`lanes` of the machine). There are no barriers between them.
void setForWarps(mlir::scf::ParallelOp loop);
bool isForWarps(mlir::scf::ParallelOp loop);

/// Whether an op stores to memory that is not private to a thread.
bool changesShared(mlir::Operation *op);

class ThreadSharing {
public:
  explicit ThreadSharing(mlir::func::FuncOp function);

  mlir::OpBuilder builder;

  /// The number of this thread in the whole grid, and how many there are.
  mlir::Value getGridThread() { return ask("alula_grid_thread"); }
  mlir::Value getGridThreads() { return ask("alula_grid_threads"); }

  /// Either the loops are strided over all threads of the grid, or the threads
  /// of one workgroup follow the control flow uniformly, with barriers.
  mlir::LogicalResult run(bool isGrid);

private:
  mlir::Value ask(llvm::StringRef name);
  mlir::func::FuncOp declare(llvm::StringRef name, bool hasResult);
  void wait(mlir::Location location);
  llvm::SmallVector<mlir::Value> delinearize(mlir::Value number,
                                             llvm::ArrayRef<mlir::Value> sizes,
                                             bool isNarrow,
                                             mlir::Location location);
  void shareLoop(mlir::scf::ParallelOp loop, mlir::Value thread,
                 mlir::Value threads);
  void shareWorkgroups(mlir::scf::ParallelOp loop, mlir::Value number,
                       mlir::Value count);
  /// The same for groups of threads, of which this one is `number`; `thread` of
  /// `threads` in it shares the loops inside.
  void shareGroups(mlir::scf::ParallelOp loop, mlir::Value number,
                   mlir::Value count, mlir::Value thread, mlir::Value threads);
  void shareWarps(mlir::scf::ParallelOp loop, mlir::Value thread,
                  mlir::Value threads);
  mlir::LogicalResult shareBlock(mlir::Block &block);
  mlir::LogicalResult shareOp(mlir::Operation *op);
  void doByFirst(llvm::ArrayRef<mlir::Operation *> ops,
                 mlir::Operation *before);

  mlir::func::FuncOp function;
  llvm::StringMap<mlir::Value> asked;
};

} // namespace alula::kernel
