// Convolutions: batches and features; windows need their dimensions whole.

#include "compiler/partition/rule.h"

#include "dialect/stablehlo/ops.h"

using namespace mlir;
using namespace alula::partition;

std::optional<Rule> alula::partition::getConvRule(Operation *op) {
  auto conv = dyn_cast<stablehlo::ConvolutionOp>(op);
  if (!conv)
    return std::nullopt;
  stablehlo::ConvDimensionNumbersAttr numbers = conv.getDimensionNumbers();
  bool hasGroups =
      conv.getFeatureGroupCount() != 1 || conv.getBatchGroupCount() != 1;
  Rule rule;
  RankedTensorType left = getStaticType(conv.getLhs()),
                   right = getStaticType(conv.getRhs()),
                   to = getStaticType(conv.getResult());
  TensorFactors lhs(left.getRank()), rhs(right.getRank()), result(to.getRank());
  auto at = [](int64_t dim) { return static_cast<size_t>(dim); };
  auto share = [&](TensorFactors &a, int64_t dimA, RankedTensorType type,
                   TensorFactors &b, int64_t dimB, FactorKind kind) {
    unsigned factor = rule.add(type.getShape()[at(dimA)], kind);
    a[at(dimA)] = {factor};
    b[at(dimB)] = {factor};
  };
  if (conv.getBatchGroupCount() == 1)
    share(lhs, numbers.getInputBatchDimension(), left, result,
          numbers.getOutputBatchDimension(), FactorKind::Pass);
  if (!hasGroups) {
    share(rhs, numbers.getKernelOutputFeatureDimension(), right, result,
          numbers.getOutputFeatureDimension(), FactorKind::Pass);
    share(lhs, numbers.getInputFeatureDimension(), left, rhs,
          numbers.getKernelInputFeatureDimension(), FactorKind::Reduce);
  }
  for (auto [tensor, type] :
       {std::pair{&lhs, left}, std::pair{&rhs, right}, std::pair{&result, to}})
    for (auto [dim, factors] : llvm::enumerate(*tensor))
      if (factors.empty())
        factors = {rule.add(type.getShape()[dim], FactorKind::Replicate)};
  rule.operands = {lhs, rhs};
  rule.results = {result};
  return rule;
}
