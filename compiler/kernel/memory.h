#pragma once

#include "mlir/IR/ValueRange.h"

namespace alula::kernel {

/// A tensor, and the memory that its elements are written to.
struct Filling {
  mlir::Value buffer, tensor;
};

/// How a target gets memory for what a kernel computes, and writes it.
class Memory {
public:
  virtual ~Memory() = default;

  /// Fresh memory without gaps.
  virtual mlir::Value allocate(mlir::ValueRange sizes,
                               mlir::Type memoryType) = 0;
  /// Writes all elements of tensors of one shape: at each index all elements
  /// are computed before any is written.
  virtual void fill(llvm::ArrayRef<Filling> fillings) = 0;
};

} // namespace alula::kernel
