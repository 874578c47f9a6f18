// The terms of products come in the order of memory.
//   dot_general %x, %y, contracting_dims = [2, 0] x [1, 0]
//   →  dot_general %x, %y, contracting_dims = [0, 2] x [0, 1]
// A product may list the dimensions that it sums over in any order. The last
// one is what kernels read next to each other.

#include "compiler/dispatch/passes.h"
#include "dialect/stablehlo/ops.h"

namespace alula::dispatch {
#define GEN_PASS_DEF_ORDERTERMS
#include "compiler/dispatch/passes.h.inc"
} // namespace alula::dispatch

using namespace mlir;

namespace {
/// Neighbours in memory are terms of one sum.
bool endsWithTerms(Value operand, ArrayRef<int64_t> contracted) {
  auto rank = cast<RankedTensorType>(operand.getType()).getRank();
  return llvm::is_contained(contracted, rank - 1);
}

void orderTerms(stablehlo::DotGeneralOp dot) {
  auto numbers = dot.getDotDimensionNumbers();
  ArrayRef<int64_t> left = numbers.getLhsContractingDimensions();
  ArrayRef<int64_t> right = numbers.getRhsContractingDimensions();
  // Where both have their terms next to each other, or neither, the left one
  // decides.
  bool byRight =
      endsWithTerms(dot.getRhs(), right) && !endsWithTerms(dot.getLhs(), left);
  SmallVector<std::pair<int64_t, int64_t>> pairs;
  for (auto [l, r] : llvm::zip_equal(left, right))
    pairs.emplace_back(l, r);
  llvm::sort(pairs, [&](auto a, auto b) {
    return byRight ? a.second < b.second : a.first < b.first;
  });
  SmallVector<int64_t> lefts, rights;
  for (auto [l, r] : pairs) {
    lefts.push_back(l);
    rights.push_back(r);
  }
  if (ArrayRef(lefts) == left)
    return;
  dot.setDotDimensionNumbersAttr(stablehlo::DotDimensionNumbersAttr::get(
      dot.getContext(), numbers.getLhsBatchingDimensions(),
      numbers.getRhsBatchingDimensions(), lefts, rights));
}

struct OrderTerms : public alula::dispatch::impl::OrderTermsBase<OrderTerms> {
  void runOnOperation() override { getOperation().walk(orderTerms); }
};
} // namespace
