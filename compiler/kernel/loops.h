#pragma once

#include "mlir/IR/ValueRange.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace alula::kernel {

/// How a target goes over indices. Each body is a scope of the reader.
class Loops {
public:
  using Body = llvm::function_ref<void(mlir::ValueRange indices)>;
  using Fold = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      mlir::ValueRange indices, mlir::ValueRange carried)>;

  virtual ~Loops() = default;

  /// For every index below `sizes`, in any order.
  virtual void forEach(mlir::ValueRange sizes, Body body) = 0;
  /// For blocks that cost `steps` steps each.
  virtual void
  forEachBlock(mlir::Value count, int64_t steps,
               llvm::function_ref<void(mlir::Value number)> body) = 0;
  /// In row-major order, each step given what the one before returned.
  virtual llvm::SmallVector<mlir::Value>
  fold(mlir::ValueRange sizes, mlir::ValueRange initial, Fold body) = 0;
  /// The same from `lower` to `upper`.
  virtual llvm::SmallVector<mlir::Value> foldRange(mlir::Value lower,
                                                   mlir::Value upper,
                                                   mlir::ValueRange initial,
                                                   Fold body) = 0;
};

} // namespace alula::kernel
