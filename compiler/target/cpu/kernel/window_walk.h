#pragma once

#include "compiler/kernel/lowering.h"

// Windows that slide over a tensor: reduce_window and select_and_scatter.
// Places in the padding, or in a hole between elements, are left out.

namespace alula::cpu {

struct WindowAxis {
  int64_t size = 1, stride = 1;
  int64_t low = 0, high = 0; ///< Padding.
  int64_t windowDilation = 1, baseDilation = 1;

  /// The window is the one element at its own place.
  bool isPlain() const {
    return size == 1 && stride == 1 && low == 0 && high == 0 &&
           baseDilation == 1;
  }
};

/// The window of an op, from its attributes.
llvm::SmallVector<WindowAxis> readWindow(mlir::Operation *op, int64_t rank);

using WindowStep = llvm::function_ref<llvm::SmallVector<mlir::Value>(
    mlir::ValueRange position, mlir::ValueRange carried)>;

/// For every element of `input` under the window at `place`, in order. Has
/// fewer axes than `input` if the last ones are left to the caller; `position`
/// then has as few.
llvm::SmallVector<mlir::Value>
walkWindow(mlir::Value input, llvm::ArrayRef<WindowAxis> window,
           mlir::ValueRange place, mlir::ValueRange initial,
           kernel::Lowering &lowering, WindowStep step);

} // namespace alula::cpu
