// Ops that work on each element by itself: one factor for each dimension.

#include "compiler/partition/rule.h"

#include "dialect/stablehlo/element_rules.h"
#include "dialect/stablehlo/ops.h"

using namespace mlir;
using namespace alula::partition;

static bool isLinear(Operation *op) {
  // But for rounding, which sums of parts have anyway.
  if (isa<stablehlo::ConvertOp>(op))
    return isa<FloatType>(getElementTypeOrSelf(op->getOperand(0))) &&
           isa<FloatType>(getElementTypeOrSelf(op->getResult(0)));
  return isa<stablehlo::AddOp, stablehlo::SubtractOp, stablehlo::NegOp>(op);
}

std::optional<Rule> alula::partition::getElementwiseRule(Operation *op) {
  if (!stablehlo::isElementwise(op) || op->getNumResults() != 1 ||
      op->getNumOperands() == 0)
    return std::nullopt;
  RankedTensorType type = getStaticType(op->getResult(0));
  if (!type)
    return std::nullopt;
  Rule rule;
  rule.isElementwise = rule.mayPad = true;
  rule.linearOperands = isLinear(op) ? op->getNumOperands() : 0;
  TensorFactors &result = rule.results.emplace_back();
  for (int64_t size : type.getShape())
    result.push_back({rule.add(size)});
  for (Value operand : op->getOperands()) {
    RankedTensorType other = getStaticType(operand);
    if (!other || (other.getRank() != 0 && other.getShape() != type.getShape()))
      return std::nullopt;
    rule.operands.push_back(other.getRank() == 0 ? TensorFactors() : result);
  }
  return rule;
}
