#pragma once

#include "compiler/kernel/lowering.h"

namespace alula::cpu {

class CpuMemory final : public kernel::Memory {
public:
  explicit CpuMemory(kernel::Lowering &lowering) : lowering(lowering) {}

  mlir::Value allocate(mlir::ValueRange sizes, mlir::Type memoryType) override;
  void fill(llvm::ArrayRef<kernel::Filling> fillings) override;

private:
  std::optional<size_t> findCrossedDim(mlir::Value tensor, unsigned depth = 0);
  void forEachElement(llvm::ArrayRef<mlir::Value> tensors,
                      kernel::Loops::Body body);
  /// In squares over two dimensions: reading along one and writing along the
  /// other, both stay in the cache.
  void forEachInSquares(mlir::ValueRange sizes, size_t first, size_t second,
                        kernel::Loops::Body body);

  kernel::Lowering &lowering;
};

} // namespace alula::cpu
