// Reductions, windows, sorts.

#include "compiler/partition/rule.h"

#include "dialect/stablehlo/ops.h"

using namespace mlir;
using namespace alula::partition;

namespace {
/// Whether devices' results, each from its own rows, can be combined: the
/// initial value must count once.
std::optional<Reducer> findCombination(stablehlo::ReduceOp op) {
  if (op.getInputs().size() != 1)
    return std::nullopt;
  std::optional<Reducer> reducer = findReducer(op.getBody());
  if (!reducer)
    return std::nullopt;
  bool countsOnce = *reducer == Reducer::Sum || *reducer == Reducer::Product;
  if (countsOnce && !isNeutral(op.getInitValues()[0], *reducer))
    return std::nullopt;
  return reducer;
}

Rule getReductionRule(stablehlo::ReduceOp op) {
  Rule rule;
  std::optional<Reducer> reducer = findCombination(op);
  rule.reducer = reducer.value_or(Reducer::Sum);
  rule.linearOperands = reducer == Reducer::Sum;
  TensorFactors operand, result;
  RankedTensorType type = getStaticType(op.getInputs()[0]);
  for (auto [dim, size] : llvm::enumerate(type.getShape())) {
    if (!llvm::is_contained(op.getDimensions(), static_cast<int64_t>(dim))) {
      operand.push_back({rule.add(size)});
      result.push_back(operand.back());
      continue;
    }
    operand.push_back(
        {rule.add(size, reducer ? FactorKind::Reduce : FactorKind::Replicate)});
  }
  rule.operands.assign(op.getInputs().size(), operand);
  rule.operands.resize(op->getNumOperands());
  rule.results.assign(op->getNumResults(), result);
  return rule;
}

Rule getSortRule(stablehlo::SortOp op) {
  Rule rule;
  TensorFactors tensor;
  RankedTensorType type = getStaticType(op.getInputs()[0]);
  int64_t sorted = op.getDimension();
  if (sorted < 0)
    sorted += type.getRank();
  for (auto [dim, size] : llvm::enumerate(type.getShape()))
    tensor.push_back({rule.add(size, static_cast<int64_t>(dim) == sorted
                                         ? FactorKind::Replicate
                                         : FactorKind::Pass)});
  rule.operands.assign(op->getNumOperands(), tensor);
  rule.results.assign(op->getNumResults(), tensor);
  return rule;
}

/// Along dimensions that windows don't cover elements are on their own.
Rule getWindowRule(stablehlo::ReduceWindowOp op) {
  Rule rule;
  TensorFactors operand, result;
  RankedTensorType from = getStaticType(op.getInputs()[0]),
                   to = getStaticType(op.getResults()[0]);
  auto isOne = [](std::optional<ArrayRef<int64_t>> list, size_t dim) {
    return !list || (*list)[dim] == 1;
  };
  for (size_t dim = 0; dim < static_cast<size_t>(from.getRank()); ++dim) {
    bool isAlone = op.getWindowDimensions()[dim] == 1 &&
                   isOne(op.getWindowStrides(), dim) &&
                   isOne(op.getBaseDilations(), dim) &&
                   from.getShape()[dim] == to.getShape()[dim];
    if (auto padding = op.getPadding(); padding && isAlone) {
      auto edges = llvm::to_vector(padding->getValues<int64_t>());
      isAlone = edges[2 * dim] == 0 && edges[2 * dim + 1] == 0;
    }
    operand.push_back(
        {rule.add(from.getShape()[dim],
                  isAlone ? FactorKind::Pass : FactorKind::Replicate)});
    result.push_back(isAlone ? operand.back()
                             : SmallVector<unsigned, 1>{rule.add(
                                   to.getShape()[dim], FactorKind::Replicate)});
  }
  rule.operands.assign(op.getInputs().size(), operand);
  rule.operands.resize(op->getNumOperands());
  rule.results.assign(op->getNumResults(), result);
  return rule;
}
} // namespace

std::optional<Rule> alula::partition::getReduceRule(Operation *op) {
  if (auto reduce = dyn_cast<stablehlo::ReduceOp>(op))
    return getReductionRule(reduce);
  if (auto sort = dyn_cast<stablehlo::SortOp>(op))
    return getSortRule(sort);
  if (auto window = dyn_cast<stablehlo::ReduceWindowOp>(op))
    return getWindowRule(window);
  return std::nullopt;
}
