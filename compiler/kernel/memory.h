#pragma once

#include "mlir/IR/ValueRange.h"

namespace alula::kernel {

/// A tensor, and the buffer that its elements are stored to.
struct Filling {
  mlir::Value buffer, tensor;
};

/// How a target allocates temporaries of a kernel, and stores tensors.
class Memory {
public:
  virtual ~Memory() = default;

  /// A contiguous temporary.
  virtual mlir::Value allocate(mlir::ValueRange sizes,
                               mlir::Type memoryType) = 0;
  /// Stores tensors of one shape in one loop nest: each iteration computes the
  /// elements of all of them before its first store.
  virtual void fill(llvm::ArrayRef<Filling> fillings) = 0;
};

} // namespace alula::kernel
