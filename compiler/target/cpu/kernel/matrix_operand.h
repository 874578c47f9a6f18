#pragma once

#include "compiler/target/cpu/kernel/narrow_matrix.h"

namespace alula::cpu {

/// A tensor as matrices: `batch` numbers the matrices, `rows` and `columns`
/// are lists of dimensions that each count as one.
struct MatrixDims {
  llvm::SmallVector<int64_t> batch, rows, columns;
};

/// Where a block of a matrix begins and how far apart its elements are.
struct MatrixBlock {
  mlir::Value pointer, rowStride, columnStride;
  /// How far apart panels of columns are, if the matrix lies in panels: those
  /// of library/product.h.
  mlir::Value panelStride = {};
};

/// An operand of a product. Where it lies in memory, blocks are read in place;
/// else each block is computed before it is read.
class MatrixOperand {
public:
  /// Blocks are of `element`s: those of the tensor or wider ones.
  MatrixOperand(mlir::Operation *op, mlir::Value tensor, MatrixDims dims,
                mlir::Type element, kernel::Lowering &lowering);

  bool isInPlace() const { return buffer || panels; }

  llvm::SmallVector<mlir::Value> getBatchSizes() const {
    return getSizes(dims.batch);
  }
  mlir::Value countRows() const {
    return lowering.product(getSizes(dims.rows));
  }
  mlir::Value countColumns() const {
    return lowering.product(getSizes(dims.columns));
  }
  llvm::SmallVector<mlir::Value> getRowSizes() const {
    return getSizes(dims.rows);
  }
  llvm::SmallVector<mlir::Value> getColumnSizes() const {
    return getSizes(dims.columns);
  }

  /// Integers of few bits that the library widens; null for others.
  const NarrowMatrix *getNarrow() const { return narrow ? &*narrow : nullptr; }

  bool isInPanels() const { return panels != nullptr; }

  /// In place: how far apart neighbours along a dimension are.
  mlir::Value getStride(int64_t dim) const {
    return strides[static_cast<size_t>(dim)];
  }

  /// Blocks that are computed may lie in panels or column by column: those of a
  /// right side.
  void allowPanels() { mayBePanels = true; }

  /// `rowLimit` and `columnLimit` are constants that the sizes stay below. A
  /// block begins where a panel does.
  MatrixBlock getBlock(mlir::ValueRange batch, mlir::Value firstRow,
                       mlir::Value rows, mlir::Value firstColumn,
                       mlir::Value columns, mlir::Value rowLimit,
                       mlir::Value columnLimit);

private:
  llvm::SmallVector<mlir::Value> getSizes(llvm::ArrayRef<int64_t> list) const;
  /// What is behind transposes that have no memory, and where it has which of
  /// the dimensions.
  mlir::Value findSource();
  /// Whether rows and columns lie in `source` as one dimension each.
  bool measure(mlir::Value source);
  bool findStrides();
  std::optional<NarrowMatrix> findNarrow() const;
  MatrixBlock widenPanels(const NarrowMatrix &matrix, mlir::Value firstRow,
                          mlir::Value rows, mlir::Value firstColumn,
                          mlir::Value columns, mlir::Value rowLimit,
                          mlir::Value columnLimit);
  MatrixBlock widenFromPanels(const NarrowMatrix &matrix, mlir::Value firstRow,
                              mlir::Value rows, mlir::Value firstColumn,
                              mlir::Value columns, mlir::Value rowLimit,
                              mlir::Value columnLimit);
  MatrixBlock widenBlock(const NarrowMatrix &matrix, mlir::Value firstRow,
                         mlir::Value rows, mlir::Value firstColumn,
                         mlir::Value columns, mlir::Value rowLimit,
                         mlir::Value columnLimit);
  mlir::Value findStride(llvm::ArrayRef<int64_t> list, bool &isOne) const;
  mlir::Value findPanels() const;

  mlir::Operation *op;
  mlir::Value tensor;
  MatrixDims dims;
  mlir::Type element;
  kernel::Lowering &lowering;
  /// In place: the memory and the distance of neighbours in each dimension.
  mlir::Value buffer;
  llvm::SmallVector<mlir::Value> strides;
  /// A dimension's place in memory.
  llvm::SmallVector<int64_t> places;
  mlir::Value rowStride, columnStride;
  /// In panels: their memory.
  mlir::Value panels;
  std::optional<NarrowMatrix> narrow;
  bool mayBePanels = false;
};

/// A pointer to the scale of the first element of a block; a null pointer where
/// there is none.
mlir::Value getScalePointer(kernel::Lowering &lowering,
                            const NarrowMatrix &matrix, mlir::Value firstRow,
                            mlir::Value firstColumn);

} // namespace alula::cpu
