#pragma once

#include "compiler/kernel/lowering.h"
#include "dialect/stablehlo/scaled_integers.h"

namespace alula::cpu {

/// A matrix of integers of few bits in memory, each times a scale: what an
/// operand of a product is made of that is widened where it is multiplied
/// (dialect/stablehlo/scaled_integers.h), as library/few_bits.h takes it.
struct NarrowMatrix {
  /// The integers, and how the library calls their type.
  mlir::Value integers;
  std::string type;
  mlir::stablehlo::MatrixLayout layout;
  /// Null: one. Element (r, c) has the number that `steps` say.
  mlir::Value scale;
  mlir::stablehlo::MatrixSteps steps;
  /// Whether the integers lie in panels, and the scales: these as
  /// [panel][line of steps.rows rows][column].
  bool isInPanels = false, hasScalePanels = false;
  /// What is subtracted from the integers in panels: the numbers of the scales,
  /// which lie in panels too. Null: nothing.
  mlir::Value zero = {};
  /// As library/few_bits.h numbers their types.
  int64_t zeroKind = 0;
  /// One for each dimension of a batch.
  llvm::SmallVector<mlir::stablehlo::BatchStep> batch;
  /// The number of the first scale; null: 0.
  mlir::Value firstScale = {};

  bool hasFourBits() const { return type.back() == '4'; }
};

/// What an operand that has no memory is as `element`s; nothing if it is
/// anything else. `rows` and `columns` are dimensions that count as one each,
/// `batch` numbers matrices, of which this is the first.
std::optional<NarrowMatrix>
findNarrowMatrix(mlir::Value operand, llvm::ArrayRef<int64_t> batch,
                 llvm::ArrayRef<int64_t> rows, llvm::ArrayRef<int64_t> columns,
                 mlir::Type element, kernel::Lowering &lowering);

/// That of a place in the batch.
NarrowMatrix getMatrix(kernel::Lowering &lowering, const NarrowMatrix &first,
                       mlir::ValueRange batch);

/// A pointer to an element of contiguous memory.
mlir::Value getElementPointer(kernel::Lowering &lowering, mlir::Value buffer,
                              mlir::Value number);

/// Whether blocks of at most so many columns begin with a panel.
bool beginsPanels(const NarrowMatrix &matrix, mlir::Value columnLimit);

/// What a routine of the library is given: pointers, and sizes as i64.
class RoutineArguments {
public:
  RoutineArguments(kernel::Lowering &lowering, mlir::Value output)
      : lowering(lowering), values{output} {}

  void add(mlir::Value pointer) { values.push_back(pointer); }
  void addSize(mlir::Value size);
  void addSize(int64_t size) { addSize(lowering.index(size)); }
  /// The panels of a matrix from a column on, which begins one.
  void addPanels(const NarrowMatrix &matrix, mlir::Value firstColumn);
  /// Their scales: of all rows; and what is subtracted before.
  void addPanelScales(const NarrowMatrix &matrix, mlir::Value firstColumn);
  void addPanelZeros(const NarrowMatrix &matrix, mlir::Value firstColumn);
  operator mlir::ValueRange() const { return values; }

private:
  kernel::Lowering &lowering;
  llvm::SmallVector<mlir::Value> values;
};

} // namespace alula::cpu
