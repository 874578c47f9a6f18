#pragma once

#include "compiler/kernel/lowering.h"
#include "compiler/kernel/plan/fill_order.h"

namespace alula::cpu {

/// Fills memory with a transpose of other memory, by blocks or strips that the
/// kernel library transposes.
void fillTransposed(const kernel::Filling &filling,
                    const kernel::FillOrder &order, kernel::Lowering &lowering);

/// Puts what is read of a transpose's result into memory of its own, beside a
/// tile that is about to be computed: from `first` on, so many elements of the
/// crossed dimension and of the last one. Until the scope ends the tensor is
/// read from there.
void copyTile(mlir::stablehlo::TransposeOp transpose, mlir::ValueRange first,
              mlir::ValueRange count, llvm::ArrayRef<int64_t> tile,
              kernel::Lowering &lowering);

} // namespace alula::cpu
