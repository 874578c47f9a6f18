// Gives products the sides that lie as they are read.
//   %p = dot_general %v, %w          %v: terms × d, %w: n × terms, in memory
//   transpose %p, dims = [1, 0]
//   →  dot_general %w, %v
// A left side is read along its terms, a right side along its columns; others
// are copied piece by piece. Attention of JAX has weights times values in this
// order, and a transpose after them. Only where both sides lie the other way
// round and nobody but a transpose reads the product: it takes the other order.

#include "compiler/dispatch/passes.h"
#include "dialect/dispatch/machine.h"
#include "dialect/dispatch/ops.h"
#include "dialect/dispatch/short_sum.h"
#include "dialect/stablehlo/ops.h"

namespace alula::dispatch {
#define GEN_PASS_DEF_TURNPRODUCTS
#include "compiler/dispatch/passes.h.inc"
} // namespace alula::dispatch

using namespace mlir;

namespace {
int64_t getLastDim(Value side) {
  return cast<RankedTensorType>(side.getType()).getRank() - 1;
}

/// Whether both sides lie as the other one should.
bool isTurned(stablehlo::DotGeneralOp dot) {
  auto numbers = dot.getDotDimensionNumbers();
  int64_t left = getLastDim(dot.getLhs()), right = getLastDim(dot.getRhs());
  return !llvm::is_contained(numbers.getLhsContractingDimensions(), left) &&
         !llvm::is_contained(numbers.getLhsBatchingDimensions(), left) &&
         llvm::is_contained(numbers.getRhsContractingDimensions(), right);
}

/// Where each dimension of the product is after its sides have changed places.
SmallVector<int64_t> findPlaces(stablehlo::DotGeneralOp dot) {
  auto numbers = dot.getDotDimensionNumbers();
  auto batch = static_cast<int64_t>(numbers.getLhsBatchingDimensions().size());
  int64_t left =
      getLastDim(dot.getLhs()) + 1 - batch -
      static_cast<int64_t>(numbers.getLhsContractingDimensions().size());
  int64_t rank = cast<RankedTensorType>(dot.getType()).getRank();
  SmallVector<int64_t> places;
  for (int64_t dim = 0; dim < rank; ++dim)
    places.push_back(dim < batch          ? dim
                     : dim < batch + left ? dim + rank - batch - left
                                          : dim - left);
  return places;
}

void turn(stablehlo::DotGeneralOp dot, stablehlo::TransposeOp reader) {
  OpBuilder builder(dot);
  auto numbers = dot.getDotDimensionNumbers();
  SmallVector<int64_t> places = findPlaces(dot);
  auto type = cast<RankedTensorType>(dot.getType());
  SmallVector<int64_t> shape(places.size()), order;
  for (auto [dim, place] : llvm::enumerate(places))
    shape[static_cast<size_t>(place)] =
        type.getDimSize(static_cast<unsigned>(dim));
  for (int64_t dim : reader.getPermutation())
    order.push_back(places[static_cast<size_t>(dim)]);
  ArrayAttr precision = dot.getPrecisionConfigAttr();
  if (precision)
    precision = builder.getArrayAttr(
        llvm::to_vector(llvm::reverse(precision.getValue())));
  auto turned = builder.create<stablehlo::DotGeneralOp>(
      dot.getLoc(), type.clone(shape), dot.getRhs(), dot.getLhs(),
      stablehlo::DotDimensionNumbersAttr::get(
          dot.getContext(), numbers.getRhsBatchingDimensions(),
          numbers.getLhsBatchingDimensions(),
          numbers.getRhsContractingDimensions(),
          numbers.getLhsContractingDimensions()),
      precision, stablehlo::DotAlgorithmAttr());
  turned->setDiscardableAttrs(dot->getDiscardableAttrDictionary());
  Value result = turned;
  if (!llvm::is_sorted(order))
    result = builder.create<stablehlo::TransposeOp>(
        reader.getLoc(), reader.getType(), result, order);
  reader.replaceAllUsesWith(result);
  reader->erase();
  dot->erase();
}

struct TurnProducts
    : public alula::dispatch::impl::TurnProductsBase<TurnProducts> {
  void runOnOperation() override {
    // Threads of a GPU fetch tiles of either kind as fast.
    if (alula::dispatch::getMachine(getOperation()).blockThreads > 1)
      return;
    SmallVector<stablehlo::DotGeneralOp> products;
    getOperation().walk(
        [&](stablehlo::DotGeneralOp dot) { products.push_back(dot); });
    for (stablehlo::DotGeneralOp dot : products) {
      auto reader =
          dot->hasOneUse()
              ? dyn_cast<stablehlo::TransposeOp>(*dot->getUsers().begin())
              : stablehlo::TransposeOp();
      // Constants of a right side are put into panels.
      if (reader && isTurned(dot) && !dot.getAlgorithmAttr() &&
          !alula::dispatch::isShortSum(dot) &&
          !dot.getRhs().getDefiningOp<stablehlo::ConstantOp>() &&
          cast<RankedTensorType>(dot.getType()).hasStaticShape())
        turn(dot, reader);
    }
  }
};
} // namespace
