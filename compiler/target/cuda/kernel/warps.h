#pragma once

#include "compiler/kernel/reduction.h"
#include "dialect/stablehlo/ops.h"

// Rows that are each computed by a warp, whose lanes share the columns: they
// read neighbours, and add up what each has by shuffles.

namespace alula::cuda {

/// Whether rows of so many columns are worth a warp each where the lowering is,
/// outside of all loops of threads.
bool mayUseWarps(kernel::Lowering &lowering, int64_t columns);
/// A loop over [0, sizes), each iteration of a warp: all lanes run the body.
void forEachByWarps(kernel::Lowering &lowering, mlir::ValueRange sizes,
                    kernel::Lowering::Body body);
/// What all lanes have is stored once.
void doByFirstLane(kernel::Lowering &lowering, llvm::function_ref<void()> body);

/// What one column takes: ops, and bytes of the narrowest element in memory.
struct ColumnWork {
  int64_t ops = 0, bytes = 0;
};
/// In these ops, and in what they read that has no memory.
ColumnWork countWork(kernel::Lowering &lowering,
                     llvm::ArrayRef<mlir::Operation *> ops, int64_t columns);
/// Whether what a lane does for its columns is straight code, as they are few
/// and every lane has as many: loads come together, and all is in registers.
bool isStraight(kernel::Lowering &lowering, int64_t columns, ColumnWork work);

/// What a lane does for one of its columns: its own number `slot`.
using LaneBody = llvm::function_ref<void(mlir::Value column, mlir::Value slot)>;
/// `count` columns. A lane has as many neighbours as one access reads, and
/// those behind them are the next lane's.
void forEachByLanes(kernel::Lowering &lowering, int64_t count, ColumnWork work,
                    LaneBody body);

/// Where an element is. `slot` is as above; null in a reduction whose lanes
/// have runs, which is one that is not strided (element/associative.h).
using PlaceOfColumn = llvm::function_ref<llvm::SmallVector<mlir::Value>(
    mlir::Value column, mlir::Value slot)>;
/// The results for one row of so many elements: every lane has them.
llvm::SmallVector<mlir::Value> reduceByLanes(kernel::Lowering &lowering,
                                             kernel::Reduction &reduction,
                                             mlir::stablehlo::ReduceOp reduce,
                                             int64_t columns, ColumnWork work,
                                             PlaceOfColumn getPlace);

mlir::Value addNumbers(kernel::Lowering &lowering, mlir::Value a,
                       mlir::Value b);
/// Sums over all columns: what each lane has for its own, of all lanes. Every
/// lane has them. The sums of floats come in no order.
llvm::SmallVector<mlir::Value> sumByLanes(
    kernel::Lowering &lowering, int64_t columns, ColumnWork work,
    mlir::ValueRange zeros,
    llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value column,
                                                      mlir::ValueRange carried)>
        addColumn);

} // namespace alula::cuda
