#pragma once

#include "compiler/kernel/element/reader.h"
#include "compiler/kernel/loops.h"

namespace alula::cpu {

class CpuLoops final : public kernel::Loops {
public:
  explicit CpuLoops(kernel::Reader &reader) : reader(reader) {}

  void forEach(mlir::ValueRange sizes, Body body) override;
  void forEachBlock(mlir::Value count, int64_t steps,
                    llvm::function_ref<void(mlir::Value number)> body) override;
  llvm::SmallVector<mlir::Value>
  fold(mlir::ValueRange sizes, mlir::ValueRange initial, Fold body) override;
  llvm::SmallVector<mlir::Value> foldRange(mlir::Value lower, mlir::Value upper,
                                           mlir::ValueRange initial,
                                           Fold body) override;

private:
  kernel::Reader &reader;
};

} // namespace alula::cpu
