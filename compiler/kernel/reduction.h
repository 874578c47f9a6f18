#pragma once

#include "compiler/kernel/lowering.h"

// The body of reduce, reduce_window or select_and_scatter, applied to one more
// element after the other. Its state is what has been combined so far, for each
// input: an element of the body's type, or a sum in f32 of narrower floats.

namespace alula::kernel {

class Reduction {
public:
  Reduction(mlir::Operation *op, mlir::Block &body, mlir::ValueRange inputs,
            mlir::ValueRange initValues, Lowering &lowering);

  llvm::SmallVector<mlir::Value> getInitial();
  /// The state with the inputs' elements at `indices` behind, or before it.
  llvm::SmallVector<mlir::Value> append(mlir::ValueRange state,
                                        mlir::ValueRange indices);
  llvm::SmallVector<mlir::Value> prepend(mlir::ValueRange state,
                                         mlir::ValueRange indices);
  /// The state of one element of each input.
  llvm::SmallVector<mlir::Value> begin(mlir::ValueRange indices);
  llvm::SmallVector<mlir::Value> combine(mlir::ValueRange a,
                                         mlir::ValueRange b);
  /// What a sum of floats is kept in; null for other reductions. Sums may be
  /// made of parts, which begin with `getNeutral`.
  mlir::Type getFloatSum() const { return sumType; }
  mlir::Value getNeutral();
  mlir::Value addSums(mlir::Value a, mlir::Value b) { return add(a, b); }
  /// The same, which nobody may reorder.
  mlir::Value addAsWritten(mlir::Value a, mlir::Value b);

  /// A state as elements of the results.
  llvm::SmallVector<mlir::Value> finish(mlir::ValueRange state);

  // ---- States in memory: one buffer for each input ----

  llvm::SmallVector<mlir::Value> createTemporaries(mlir::ValueRange sizes);
  llvm::SmallVector<mlir::Value> load(mlir::ValueRange memory,
                                      mlir::ValueRange indices);
  void store(mlir::ValueRange state, mlir::ValueRange memory,
             mlir::ValueRange indices);

  // ---- The same, one for each element of the results ----

  /// They are kept where the results are, if these can hold them.
  void createStates();
  llvm::SmallVector<mlir::Value> load(mlir::ValueRange indices) {
    return load(states, indices);
  }
  void store(mlir::ValueRange state, mlir::ValueRange indices) {
    store(state, states, indices);
  }
  /// Makes results of all states, once all are complete.
  void finishStates();

private:
  mlir::Value convert(mlir::Value value, mlir::Type from, unsigned k);
  mlir::Value add(mlir::Value a, mlir::Value b);
  /// What input k's part of a state is kept as.
  mlir::Type getStateType(unsigned k);

  mlir::Operation *op;
  mlir::Block &body;
  llvm::SmallVector<mlir::Value> inputs, initValues;
  Lowering &lowering;
  /// Set if the body is the sum of its two arguments, which are floats.
  mlir::Type sumType;
  bool isWide = false; ///< The sum has another type than the results.
  llvm::SmallVector<mlir::Value> results, states;
};

} // namespace alula::kernel
