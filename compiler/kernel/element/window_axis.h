#pragma once

#include "mlir/IR/Operation.h"

namespace alula::kernel {

/// A window that slides along one dimension of a tensor.
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

} // namespace alula::kernel
