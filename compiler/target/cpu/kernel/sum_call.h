#pragma once

#include "compiler/kernel/reduction.h"

#include "dialect/stablehlo/ops.h"

// Sums of rows and columns by the library: see library/sums.h.

namespace alula::cpu {

/// Whether a reduction is a sum that the library computes: of floats that lie
/// in memory as they are added, over dimensions that are one in it, long
/// enough that a call is worth it. A machine without vectors has loops.
bool isSumOfLibrary(mlir::stablehlo::ReduceOp reduce,
                    kernel::Reduction &reduction, kernel::Lowering &lowering);

/// All sizes count elements.
struct SumCall {
  /// The first element of the result that is written, and of the operand.
  mlir::Value to, from;
  mlir::Value row, rows, columns;
  mlir::Value initial;
};

void callRowSums(kernel::Lowering &lowering, const SumCall &call);
/// No call has more columns than `columnLimit`; `rows` are known.
void callColumnSums(kernel::Lowering &lowering, const SumCall &call,
                    int64_t columnLimit);

} // namespace alula::cpu
