#pragma once

#include "mlir/IR/ValueRange.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace alula::kernel {

/// Loop nests of a target over an index space. A body is a reader's scope.
class Loops {
public:
  using Body = llvm::function_ref<void(mlir::ValueRange indices)>;
  using Fold = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      mlir::ValueRange indices, mlir::ValueRange carried)>;

  virtual ~Loops() = default;

  /// A parallel nest over [0, sizes): iterations in any order.
  virtual void forEach(mlir::ValueRange sizes, Body body) = 0;
  /// A parallel loop over `count` blocks of `steps` iterations each.
  virtual void
  forEachBlock(mlir::Value count, int64_t steps,
               llvm::function_ref<void(mlir::Value number)> body) = 0;
  /// A sequential nest in row-major order, with loop-carried values.
  virtual llvm::SmallVector<mlir::Value>
  fold(mlir::ValueRange sizes, mlir::ValueRange initial, Fold body) = 0;
  /// The same in one dimension, over [lower, upper).
  virtual llvm::SmallVector<mlir::Value> foldRange(mlir::Value lower,
                                                   mlir::Value upper,
                                                   mlir::ValueRange initial,
                                                   Fold body) = 0;
};

} // namespace alula::kernel
