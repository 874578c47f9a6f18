#pragma once

#include "compiler/kernel/lowering.h"

namespace mlir::stablehlo {
class SortOp;
} // namespace mlir::stablehlo

namespace alula::cpu {

/// Sorts by the digits of keys, where the comparator compares one number of an
/// element with the same of the other and rows are long. False, and nothing
/// done, where it is anything else. `results` are the memory of the results.
bool emitRadixSort(mlir::stablehlo::SortOp sort,
                   llvm::ArrayRef<mlir::Value> results,
                   kernel::Lowering &lowering);

} // namespace alula::cpu
