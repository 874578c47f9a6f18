#pragma once

#include "dialect/stablehlo/ops.h"

namespace mlir::stablehlo {

/// A dimension of a product's result: one of `lhs`, of `rhs`, or a batch
/// dimension of both. -1 where it is none of an operand's.
struct ProductDim {
  int64_t lhs = -1, rhs = -1;
};

/// Those of the batch, then what is left of lhs, then of rhs.
inline SmallVector<ProductDim> getProductDims(DotGeneralOp dot) {
  DotDimensionNumbersAttr numbers = dot.getDotDimensionNumbers();
  auto isFree = [](int64_t dim, ArrayRef<int64_t> batching,
                   ArrayRef<int64_t> contracting) {
    return !llvm::is_contained(batching, dim) &&
           !llvm::is_contained(contracting, dim);
  };
  SmallVector<ProductDim> dims;
  for (auto [lhs, rhs] : llvm::zip_equal(numbers.getLhsBatchingDimensions(),
                                         numbers.getRhsBatchingDimensions()))
    dims.push_back({lhs, rhs});
  int64_t lhsRank = cast<RankedTensorType>(dot.getLhs().getType()).getRank();
  int64_t rhsRank = cast<RankedTensorType>(dot.getRhs().getType()).getRank();
  for (int64_t dim = 0; dim < lhsRank; ++dim)
    if (isFree(dim, numbers.getLhsBatchingDimensions(),
               numbers.getLhsContractingDimensions()))
      dims.push_back({dim, -1});
  for (int64_t dim = 0; dim < rhsRank; ++dim)
    if (isFree(dim, numbers.getRhsBatchingDimensions(),
               numbers.getRhsContractingDimensions()))
      dims.push_back({-1, dim});
  return dims;
}

/// Of vectors and matrices: the last dimension of lhs is contracted with the
/// first of rhs.
inline SmallVector<ProductDim> getProductDims(DotOp dot) {
  SmallVector<ProductDim> dims;
  if (cast<RankedTensorType>(dot.getLhs().getType()).getRank() == 2)
    dims.push_back({0, -1});
  if (cast<RankedTensorType>(dot.getRhs().getType()).getRank() == 2)
    dims.push_back({-1, 1});
  return dims;
}

} // namespace mlir::stablehlo
