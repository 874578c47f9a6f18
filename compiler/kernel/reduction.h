#pragma once

#include "compiler/kernel/lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

// The body of reduce, reduce_window or select_and_scatter as an accumulation.
// Its state is one accumulator for each input: an element of the body's type,
// or f32 for sums, products and extremes of narrower floats, which then wait
// for no rounding from one element to the next.

namespace alula::kernel {

class Reduction {
public:
  Reduction(mlir::Operation *op, mlir::Block &body, mlir::ValueRange inputs,
            mlir::ValueRange initValues, Lowering &lowering);

  llvm::SmallVector<mlir::Value> getInitial();
  /// Accumulates the inputs' elements at `indices`, as right or left operand.
  llvm::SmallVector<mlir::Value> append(mlir::ValueRange state,
                                        mlir::ValueRange indices);
  llvm::SmallVector<mlir::Value> prepend(mlir::ValueRange state,
                                         mlir::ValueRange indices);
  /// Accumulators that hold one element of each input.
  llvm::SmallVector<mlir::Value> begin(mlir::ValueRange indices);
  llvm::SmallVector<mlir::Value> combine(mlir::ValueRange a,
                                         mlir::ValueRange b);
  /// The type of accumulators of float sums; null for other reductions. Sums
  /// may have several accumulators (lanes), which begin with `getNeutral`.
  mlir::Type getFloatSum() const;
  mlir::Value getNeutral();
  mlir::Value addSums(mlir::Value a, mlir::Value b) { return add(a, b); }
  /// The same without reassociation.
  mlir::Value addAsWritten(mlir::Value a, mlir::Value b);

  /// The results for a row of `terms` elements, which are at `at`: a state for
  /// each of `parts` parts, side by side, which are combined in order.
  llvm::SmallVector<mlir::Value> foldInParts(
      int64_t parts, int64_t terms,
      llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value)> at);

  /// Accumulators rounded to elements of the results.
  llvm::SmallVector<mlir::Value> finish(mlir::ValueRange state);

  // ---- Accumulators in memory: one buffer for each input ----

  llvm::SmallVector<mlir::Value> createTemporaries(mlir::ValueRange sizes);
  llvm::SmallVector<mlir::Value> load(mlir::ValueRange memory,
                                      mlir::ValueRange indices);
  void store(mlir::ValueRange state, mlir::ValueRange memory,
             mlir::ValueRange indices);

  // ---- The same, one for each element of the results ----

  /// In place in the results' buffers, if these are wide enough.
  void createStates();
  llvm::SmallVector<mlir::Value> load(mlir::ValueRange indices) {
    return load(states, indices);
  }
  void store(mlir::ValueRange state, mlir::ValueRange indices) {
    store(state, states, indices);
  }
  /// Rounds all accumulators to results, after the last iteration.
  void finishStates();

private:
  mlir::Value convert(mlir::Value value, mlir::Type from, unsigned k);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::arith::FastMathFlags getOrder() const;
  /// The type of input k's accumulator.
  mlir::Type getStateType(unsigned k);

  mlir::Operation *op;
  mlir::Block &body;
  llvm::SmallVector<mlir::Value> inputs, initValues;
  Lowering &lowering;
  /// `findFloatFold`.
  mlir::Operation *fold = nullptr;
  /// Of its accumulator; any other is an element of the body's type.
  mlir::Type floatType;
  bool isWide = false; ///< The accumulator is wider than the results.
  llvm::SmallVector<mlir::Value> results, states;
};

} // namespace alula::kernel
