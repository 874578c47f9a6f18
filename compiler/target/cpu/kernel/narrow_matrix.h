#pragma once

#include "compiler/kernel/lowering.h"

namespace alula::cpu {

/// Element (r, c) of the matrix that an operand of a product is has, among the
/// operand's own, the number r * rowStride + c * columnStride.
struct MatrixLayout {
  int64_t rows, columns, rowStride, columnStride;
};

/// A matrix of integers of few bits in memory, each times a scale: what an
/// operand of a product is made of that is widened where it is multiplied
/// (dialect/stablehlo/widened_factor.h), as library/few_bits.h takes it.
struct NarrowMatrix {
  /// The integers, and how the library calls their type.
  mlir::Value integers;
  std::string type;
  MatrixLayout layout;
  /// Null: one. Element (r, c) has number
  /// r / scaleRows * scaleRowStep + c / scaleColumns * scaleColumnStep.
  mlir::Value scale;
  int64_t scaleRows = 1, scaleRowStep = 0, scaleColumns = 1,
          scaleColumnStep = 0;

  bool hasFourBits() const { return type.back() == '4'; }
  bool hasScaleSteps() const { return scaleRowStep || scaleColumnStep; }
};

/// What `tensor`, which has no memory, is as `element`s; nothing if it is
/// anything else.
std::optional<NarrowMatrix> findNarrowMatrix(mlir::Value tensor,
                                             MatrixLayout layout,
                                             mlir::Type element,
                                             kernel::Lowering &lowering);

/// What a routine of the library is given: pointers, and sizes as i64.
class RoutineArguments {
public:
  RoutineArguments(kernel::Lowering &lowering, mlir::Value output)
      : lowering(lowering), values{output} {}

  void add(mlir::Value pointer) { values.push_back(pointer); }
  void addSize(mlir::Value size);
  void addSize(int64_t size) { addSize(lowering.index(size)); }
  operator mlir::ValueRange() const { return values; }

private:
  kernel::Lowering &lowering;
  llvm::SmallVector<mlir::Value> values;
};

} // namespace alula::cpu
