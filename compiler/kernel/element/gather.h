#pragma once

#include "compiler/kernel/element/reader.h"

// gather, dynamic_gather and scatter: windows of a big tensor, each at a corner
// that an index vector names, and a small tensor that holds all of them.

namespace alula::kernel {

/// The values of some dimensions.
llvm::SmallVector<mlir::Value> pick(llvm::ArrayRef<mlir::Value> values,
                                    llvm::ArrayRef<int64_t> dims);

/// Which dimension of the three tensors plays which part.
class WindowMap {
public:
  using Dims = llvm::SmallVector<int64_t>;

  WindowMap(Dims windowDims, llvm::ArrayRef<int64_t> inserted, Dims bigBatching,
            Dims indexBatching, Dims indexMap, int64_t indexVectorDim,
            mlir::Value big, mlir::Value indices, int64_t smallRank);
  static WindowMap ofGather(mlir::Operation *op);
  static WindowMap ofScatter(mlir::Operation *op);

  /// Number `k` of the index vector of a position in the batch.
  mlir::Value readIndex(Reader &reader, mlir::ValueRange batch, size_t k) const;
  bool isUnsigned() const;
  /// The dimension of the batch that a dimension of the indices is.
  size_t getBatchOfIndex(int64_t dim) const {
    return static_cast<size_t>(dim - (dim > indexVectorDim ? 1 : 0));
  }

  Dims windowDims, batchDims; ///< Of the small tensor.
  Dims windowOfBig;           ///< Big dimension of each of the windowDims.
  Dims bigBatching, indexBatching;
  Dims indexMap;
  Dims inserted; ///< Big dimensions that windows have at one place alone.
  int64_t indexVectorDim;
  mlir::Value indices;
  int64_t bigRank;
};

class Gather {
public:
  Gather(mlir::Operation *op, Reader &reader);

  /// Where the window of a position in the batch begins; it lies inside.
  llvm::SmallVector<mlir::Value> getCorner(mlir::ValueRange batch) const;
  /// A slice that is empty in a dimension that the result leaves out has no
  /// element; the result's is zero then, as with XLA.
  mlir::Value getElement(mlir::ValueRange corner,
                         llvm::ArrayRef<mlir::Value> indices) const;

  const WindowMap &getMap() const { return map; }

private:
  mlir::Value operand;
  Reader &reader;
  WindowMap map;
  llvm::SmallVector<mlir::Value> sliceSizes; ///< For each operand dimension.
};

} // namespace alula::kernel
