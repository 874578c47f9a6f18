// The element of a product that is the sum of a few terms.

#include "compiler/kernel/element/generators.h"
#include "compiler/kernel/element/reader.h"
#include "compiler/kernel/element/scalar.h"

#include "dialect/stablehlo/ops.h"
#include "dialect/stablehlo/product_dims.h"

using namespace mlir;
using namespace alula::kernel;

Value alula::kernel::generateShortSum(OpResult result, ValueRange indices,
                                      Reader &reader) {
  auto dot = cast<stablehlo::DotGeneralOp>(result.getOwner());
  auto numbers = dot.getDotDimensionNumbers();
  auto sizesOf = [](Value tensor) {
    return cast<RankedTensorType>(tensor.getType()).getShape();
  };
  SmallVector<Value> left(sizesOf(dot.getLhs()).size());
  SmallVector<Value> right(sizesOf(dot.getRhs()).size());
  for (auto [dim, index] :
       llvm::zip_equal(stablehlo::getProductDims(dot), indices)) {
    if (dim.lhs >= 0)
      left[static_cast<size_t>(dim.lhs)] = index;
    if (dim.rhs >= 0)
      right[static_cast<size_t>(dim.rhs)] = index;
  }
  int64_t terms = 1;
  for (int64_t dim : numbers.getLhsContractingDimensions())
    terms *= sizesOf(dot.getLhs())[static_cast<size_t>(dim)];
  Type element = getElementType(result), sumType = getSumType(element);
  auto get = [&](Value tensor, ValueRange at) {
    return widenForSum(reader, dot, reader.getElement(tensor, at),
                       getElementType(tensor), sumType);
  };
  Value sum = reader.zero(sumType);
  for (int64_t term = 0; term < terms; ++term) {
    int64_t rest = term;
    for (size_t i = numbers.getLhsContractingDimensions().size(); i-- > 0;) {
      auto lhs = static_cast<size_t>(numbers.getLhsContractingDimensions()[i]);
      auto rhs = static_cast<size_t>(numbers.getRhsContractingDimensions()[i]);
      int64_t size = sizesOf(dot.getLhs())[lhs];
      left[lhs] = right[rhs] = reader.index(rest % size);
      rest /= size;
    }
    sum = multiplyAdd(reader, get(dot.getLhs(), left), get(dot.getRhs(), right),
                      sum, terms);
  }
  return roundSum(reader, sum, element);
}
