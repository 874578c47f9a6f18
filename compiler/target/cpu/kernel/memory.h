#pragma once

#include "compiler/kernel/lowering.h"

#include <set>

namespace alula::cpu {

class CpuMemory final : public kernel::Memory {
public:
  explicit CpuMemory(kernel::Lowering &lowering) : lowering(lowering) {}

  mlir::Value allocate(mlir::ValueRange sizes, mlir::Type memoryType) override;
  void fill(llvm::ArrayRef<kernel::Filling> fillings) override;

private:
  /// Tiles of these sizes, one for each dimension; none: row-major. `begin` is
  /// told where a tile begins, and how many elements it has in each dimension.
  using BeginTile =
      llvm::function_ref<void(mlir::ValueRange first, mlir::ValueRange count)>;
  void forEachInTiles(mlir::ValueRange sizes, llvm::ArrayRef<int64_t> tile,
                      BeginTile begin, kernel::Loops::Body body);

  /// The dimensions of which a tile has more than one element are unrolled.
  void fillUnrolled(llvm::ArrayRef<kernel::Filling> fillings,
                    mlir::ValueRange sizes, llvm::ArrayRef<int64_t> tile);

  std::set<int64_t> findSeams(llvm::ArrayRef<kernel::Filling> fillings);
  void forEachBetween(const std::set<int64_t> &seams, mlir::ValueRange sizes,
                      kernel::Loops::Body body);

  kernel::Lowering &lowering;
};

} // namespace alula::cpu
