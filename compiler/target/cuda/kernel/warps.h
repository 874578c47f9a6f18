#pragma once

#include "compiler/kernel/reduction.h"

// Rows that are each computed by a warp, whose lanes share the columns: they
// read neighbours, and add up what each has by shuffles.

namespace alula::cuda {

/// Whether rows of so many columns are worth a warp each where the lowering is,
/// outside of all loops of threads.
bool mayUseWarps(kernel::Lowering &lowering, int64_t columns);
/// Whether lanes may each reduce a part of `columns` elements.
bool isSharedByLanes(mlir::Operation *reduce, mlir::Block &body,
                     int64_t columns);

/// A loop over [0, sizes), each iteration of a warp: all lanes run the body.
void forEachByWarps(kernel::Lowering &lowering, mlir::ValueRange sizes,
                    kernel::Lowering::Body body);
/// What all lanes have is stored once.
void doByFirstLane(kernel::Lowering &lowering, llvm::function_ref<void()> body);

/// The results for one row of so many elements: every lane has them. `getPlace`
/// is where an element is.
llvm::SmallVector<mlir::Value> reduceByLanes(
    kernel::Lowering &lowering, kernel::Reduction &reduction, mlir::Block &body,
    int64_t columns,
    llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value)> getPlace);

} // namespace alula::cuda
