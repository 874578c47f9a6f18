// Products of matrices, and what is done to each matrix of a batch.

#include "compiler/partition/rule.h"

#include "dialect/stablehlo/ops.h"

using namespace mlir;
using namespace alula::partition;

namespace {
Rule getProductRule(stablehlo::DotGeneralOp op) {
  stablehlo::DotDimensionNumbersAttr numbers = op.getDotDimensionNumbers();
  RankedTensorType left = getStaticType(op.getLhs()),
                   right = getStaticType(op.getRhs());
  Rule rule;
  rule.mayPad = true;
  TensorFactors lhs(left.getRank()), rhs(right.getRank()), result;
  auto at = [](int64_t dim) { return static_cast<size_t>(dim); };
  auto share = [&](ArrayRef<int64_t> dims, ArrayRef<int64_t> others,
                   FactorKind kind) {
    for (auto [l, r] : llvm::zip_equal(dims, others)) {
      unsigned factor = rule.add(left.getShape()[at(l)], kind);
      lhs[at(l)] = {factor};
      rhs[at(r)] = {factor};
      if (kind == FactorKind::Pass)
        result.push_back({factor});
    }
  };
  share(numbers.getLhsBatchingDimensions(), numbers.getRhsBatchingDimensions(),
        FactorKind::Pass);
  share(numbers.getLhsContractingDimensions(),
        numbers.getRhsContractingDimensions(), FactorKind::Reduce);
  auto addFree = [&](TensorFactors &tensor, RankedTensorType type) {
    for (auto [dim, factors] : llvm::enumerate(tensor))
      if (factors.empty()) {
        factors = {rule.add(type.getShape()[dim])};
        result.push_back(factors);
      }
  };
  addFree(lhs, left);
  addFree(rhs, right);
  rule.operands = {lhs, rhs};
  rule.results = {result};
  return rule;
}

/// All dimensions but the last `inner` are a batch in all operands and results.
std::optional<Rule> getBatchRule(Operation *op, int64_t inner) {
  int64_t rank = getStaticType(op->getOperand(0)).getRank();
  Rule rule;
  rule.mayPad = true;
  TensorFactors batch;
  for (int64_t dim = 0; dim + inner < rank; ++dim)
    batch.push_back({rule.add(getStaticType(op->getOperand(0))
                                  .getDimSize(static_cast<unsigned>(dim)))});
  auto extend = [&](Value value) {
    TensorFactors tensor = batch;
    for (int64_t size :
         getStaticType(value).getShape().take_back(static_cast<size_t>(inner)))
      tensor.push_back({rule.add(size, FactorKind::Replicate)});
    return tensor;
  };
  for (Value operand : op->getOperands())
    rule.operands.push_back(extend(operand));
  // A transform is divided as what it transforms was.
  RankedTensorType from = getStaticType(op->getOperand(0));
  for (Value result : op->getResults())
    rule.results.push_back(isa<stablehlo::FftOp>(op) &&
                                   getStaticType(result).getShape() ==
                                       from.getShape()
                               ? rule.operands[0]
                               : extend(result));
  return rule;
}
} // namespace

std::optional<Rule> alula::partition::getDotRule(Operation *op) {
  if (auto product = dyn_cast<stablehlo::DotGeneralOp>(op))
    return getProductRule(product);
  if (isa<stablehlo::CholeskyOp, stablehlo::TriangularSolveOp>(op))
    return getBatchRule(op, 2);
  if (auto fft = dyn_cast<stablehlo::FftOp>(op))
    return getBatchRule(op, static_cast<int64_t>(fft.getFftLength().size()));
  return std::nullopt;
}
