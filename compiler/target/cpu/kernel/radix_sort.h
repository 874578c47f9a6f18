#pragma once

#include "compiler/kernel/lowering.h"

namespace mlir::stablehlo {
class SortOp;
} // namespace mlir::stablehlo

namespace alula::cpu {

/// Sorts by the digits of keys (`maySortByDigits`). `results` are the memory of
/// the results.
void emitRadixSort(mlir::stablehlo::SortOp sort,
                   llvm::ArrayRef<mlir::Value> results,
                   kernel::Lowering &lowering);

/// The first `needed` elements of each row by the library, if it can; false:
/// nothing is emitted.
bool emitFirstByCalls(mlir::stablehlo::SortOp sort,
                      llvm::ArrayRef<mlir::Value> results, int64_t needed,
                      kernel::Lowering &lowering);

} // namespace alula::cpu
