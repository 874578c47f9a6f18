// Reductions, windows, sorts.

#include "compiler/partition/windows.h"

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
  rule.mayPad = true;
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

/// Whether only the first or last elements of what is sorted are wanted, as of
/// `top_k`.
bool isForFew(stablehlo::SortOp op, size_t sorted) {
  return llvm::all_of(op->getUsers(), [&](Operation *user) {
    auto slice = dyn_cast<stablehlo::SliceOp>(user);
    return slice && getStaticType(slice.getResult()).getShape()[sorted] !=
                        getStaticType(slice.getOperand()).getShape()[sorted];
  });
}

Rule getSortRule(stablehlo::SortOp op) {
  Rule rule;
  rule.mayPad = true;
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
  // A few are everywhere, and one line is: there is nothing else to divide.
  auto at = static_cast<size_t>(sorted);
  if (isForFew(op, at) || type.getNumElements() == type.getShape()[at])
    tensor[at] = {rule.add(type.getShape()[at], FactorKind::Replicate)};
  rule.results.assign(op->getNumResults(), tensor);
  return rule;
}

int64_t getOr(std::optional<ArrayRef<int64_t>> list, size_t dim,
              int64_t other) {
  return list ? (*list)[dim] : other;
}

/// Edges of all dimensions, low and high in turns.
SmallVector<int64_t> getEdges(std::optional<DenseIntElementsAttr> padding,
                              int64_t rank) {
  if (!padding)
    return SmallVector<int64_t>(static_cast<size_t>(2 * rank), 0);
  return llvm::to_vector(padding->getValues<int64_t>());
}

/// Along dimensions that windows don't cover elements are on their own; along
/// others devices read what neighbours have.
Rule getWindowRule(stablehlo::ReduceWindowOp op) {
  Rule rule;
  rule.mayPad = true;
  TensorFactors tensor;
  RankedTensorType from = getStaticType(op.getInputs()[0]),
                   to = getStaticType(op.getResults()[0]);
  SmallVector<int64_t> edges = getEdges(op.getPadding(), from.getRank());
  for (size_t dim = 0; dim < static_cast<size_t>(from.getRank()); ++dim) {
    int64_t results = to.getShape()[dim], size = from.getShape()[dim];
    tensor.push_back({rule.add(std::min(results, size))});
    Window window{tensor.back()[0], 0, dim, results};
    window.stride = getOr(op.getWindowStrides(), dim, 1);
    window.begin = -edges[2 * dim];
    window.extent = (op.getWindowDimensions()[dim] - 1) *
                        getOr(op.getWindowDilations(), dim, 1) +
                    1;
    window.dilation = getOr(op.getBaseDilations(), dim, 1);
    bool isAlone = window.stride == 1 && window.begin == 0 &&
                   window.extent == 1 && window.dilation == 1 &&
                   results == size;
    for (size_t i = 0; i < op.getInputs().size() && !isAlone; ++i) {
      window.operand = i;
      rule.windows.push_back(window);
    }
  }
  rule.operands.assign(op.getInputs().size(), tensor);
  rule.operands.resize(op->getNumOperands());
  rule.results.assign(op->getNumResults(), tensor);
  return rule;
}

/// What a window's result gives goes to one element of the window: those of
/// other windows are not concerned where windows lie side by side.
Rule getScatterRule(stablehlo::SelectAndScatterOp op) {
  Rule rule;
  TensorFactors tensor;
  RankedTensorType from = getStaticType(op.getSource()),
                   to = getStaticType(op.getResult());
  SmallVector<int64_t> edges = getEdges(op.getPadding(), to.getRank());
  for (size_t dim = 0; dim < static_cast<size_t>(to.getRank()); ++dim) {
    int64_t window = getOr(op.getWindowDimensions(), dim, 1);
    bool isApart = edges[2 * dim] == 0 && edges[2 * dim + 1] == 0 &&
                   window == getOr(op.getWindowStrides(), dim, 1) &&
                   to.getShape()[dim] == from.getShape()[dim] * window;
    tensor.push_back(
        {rule.add(from.getShape()[dim],
                  isApart ? FactorKind::Pass : FactorKind::Replicate)});
  }
  rule.operands = {tensor, tensor, TensorFactors()};
  rule.results = {tensor};
  return rule;
}
} // namespace

std::optional<SmallVector<Value>>
alula::partition::buildLocalWindow(LocalSite &site) {
  auto op = dyn_cast<stablehlo::ReduceWindowOp>(site.op);
  if (!op)
    return std::nullopt;
  int64_t rank = getStaticType(op.getInputs()[0]).getRank();
  SmallVector<int64_t> edges = getEdges(op.getPadding(), rank);
  site.readWindows(
      [&](const Window &window) {
        return site.operands[op.getInputs().size() + window.operand];
      },
      [&](const Window &window, int64_t low, int64_t high) {
        edges[2 * window.dim] = low;
        edges[2 * window.dim + 1] = high;
      });
  OpBuilder &builder = site.builder;
  return site.clone(
      site,
      {builder.getNamedAttr(
          "padding",
          DenseIntElementsAttr::get(
              RankedTensorType::get({rank, 2}, builder.getI64Type()), edges))});
}

std::optional<Rule> alula::partition::getReduceRule(Operation *op) {
  if (auto reduce = dyn_cast<stablehlo::ReduceOp>(op))
    return getReductionRule(reduce);
  if (auto sort = dyn_cast<stablehlo::SortOp>(op))
    return getSortRule(sort);
  if (auto window = dyn_cast<stablehlo::ReduceWindowOp>(op))
    return getWindowRule(window);
  if (auto scatter = dyn_cast<stablehlo::SelectAndScatterOp>(op))
    return getScatterRule(scatter);
  return std::nullopt;
}
