#pragma once

#include "compiler/kernel/lowering.h"

namespace alula::cuda {

/// Temporaries are placed when launches are formed; what is written is written
/// in the order in which it lies.
class CudaMemory final : public kernel::Memory {
public:
  explicit CudaMemory(kernel::Lowering &lowering) : lowering(lowering) {}

  mlir::Value allocate(mlir::ValueRange sizes, mlir::Type memoryType) override;
  void fill(llvm::ArrayRef<kernel::Filling> fillings) override;

private:
  kernel::Lowering &lowering;
};

} // namespace alula::cuda
