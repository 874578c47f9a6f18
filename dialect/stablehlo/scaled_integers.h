#pragma once

#include "mlir/IR/Operation.h"

namespace mlir::stablehlo {

/// Element (r, c) of the matrix that a tensor is has, among the tensor's own,
/// the number r * rowStride + c * columnStride.
struct MatrixLayout {
  int64_t rows, columns, rowStride, columnStride;
};

/// Numbers for a matrix, in steps: element (r, c) has number
/// r / rows * rowStep + c / columns * columnStep.
struct MatrixSteps {
  int64_t rows = 1, rowStep = 0, columns = 1, columnStep = 0;
  bool operator==(const MatrixSteps &) const = default;
};

/// How far the matrices of neighbours in a dimension of a batch are apart:
/// their integers, and the numbers of their scales.
struct BatchStep {
  int64_t integers = 0, scale = 0;
};

/// (convert(integers) - broadcast(zero)) * broadcast(scale), with reshapes in
/// between: what an operand of a product is that is widened where it is
/// multiplied (widened_factor.h).
struct ScaledIntegers {
  /// What is converted, as a matrix.
  Value integers;
  MatrixLayout layout;
  /// The op that repeats scales, what it reads behind reshapes, and which
  /// number of that an element has; null: one.
  Operation *broadcast = nullptr;
  Value scale;
  MatrixSteps steps;
  /// The same of the zero points, without a batch; null: zero.
  Operation *zeroBroadcast = nullptr;
  Value zero;
  MatrixSteps zeroSteps;
  /// One for each dimension of the batch.
  SmallVector<BatchStep> batch;
};

/// Whether an op is computed where the matrix is multiplied.
using IsInside = llvm::function_ref<bool(Operation *)>;

/// The matrix of an operand whose dimensions `rows` and `columns` count as one
/// each, behind transposes; nothing if these do not lie together. Those of
/// `batch` number such matrices.
std::optional<ScaledIntegers>
findScaledIntegers(Value operand, ArrayRef<int64_t> batch,
                   ArrayRef<int64_t> rows, ArrayRef<int64_t> columns,
                   Type element, IsInside isInside);

/// The dimensions of a tensor that number the rows and the columns of a matrix.
struct RowsAndColumns {
  SmallVector<int64_t> rows, columns;
  bool operator==(const RowsAndColumns &) const = default;
};

/// Nothing if a dimension counts both.
std::optional<RowsAndColumns> divideDims(RankedTensorType type,
                                         const MatrixLayout &layout);

} // namespace mlir::stablehlo
