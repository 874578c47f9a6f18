// Convolutions: batches, features, groups of them; along windows devices read
// what neighbours have. Where the kernel is the longer one, as in gradients of
// weights, its places are what is split, and results are added up.

#include "compiler/partition/windows.h"

#include "dialect/stablehlo/ops.h"

using namespace mlir;
using namespace alula::partition;

namespace {
size_t at(int64_t dim) { return static_cast<size_t>(dim); }

int64_t getOr(std::optional<ArrayRef<int64_t>> list, size_t dim,
              int64_t other) {
  return list ? (*list)[dim] : other;
}

SmallVector<int64_t> getEdges(stablehlo::ConvolutionOp op) {
  if (auto padding = op.getPadding())
    return llvm::to_vector(padding->getValues<int64_t>());
  return SmallVector<int64_t>(
      2 * op.getDimensionNumbers().getInputSpatialDimensions().size(), 0);
}

class ConvRule {
public:
  explicit ConvRule(stablehlo::ConvolutionOp op)
      : op(op), numbers(op.getDimensionNumbers()),
        left(getStaticType(op.getLhs())), right(getStaticType(op.getRhs())),
        to(getStaticType(op.getResult())), lhs(at(left.getRank())),
        rhs(at(right.getRank())), result(at(to.getRank())) {
    rule.mayPad = true;
  }

  Rule run() {
    addFeatures();
    for (size_t i = 0; i < numbers.getInputSpatialDimensions().size(); ++i)
      addSpace(i);
    for (auto [tensor, type] : {std::pair{&lhs, left}, std::pair{&rhs, right},
                                std::pair{&result, to}})
      for (auto [dim, factors] : llvm::enumerate(*tensor))
        if (factors.empty())
          factors = {rule.add(type.getShape()[dim], FactorKind::Replicate)};
    rule.operands = {lhs, rhs};
    rule.results = {result};
    return std::move(rule);
  }

private:
  void addFeatures() {
    auto batch = at(numbers.getInputBatchDimension()),
         input = at(numbers.getInputFeatureDimension()),
         kernel = at(numbers.getKernelInputFeatureDimension()),
         output = at(numbers.getKernelOutputFeatureDimension()),
         feature = at(numbers.getOutputFeatureDimension());
    if (op.getBatchGroupCount() != 1)
      return;
    lhs[batch] = {rule.add(left.getShape()[batch])};
    result[at(numbers.getOutputBatchDimension())] = lhs[batch];
    auto groups = static_cast<int64_t>(op.getFeatureGroupCount());
    if (groups != 1) {
      unsigned group = rule.add(groups);
      lhs[input] = rhs[output] = result[feature] = {group};
    }
    if (int64_t own = right.getShape()[output] / groups; own != 1) {
      rhs[output].push_back(rule.add(own));
      result[feature].push_back(rhs[output].back());
    }
    if (int64_t own = right.getShape()[kernel]; own != 1 || groups == 1) {
      lhs[input].push_back(rule.add(own, FactorKind::Reduce));
      rhs[kernel] = {lhs[input].back()};
    }
  }

  void addSpace(size_t i) {
    auto dim = at(numbers.getInputSpatialDimensions()[i]),
         kernel = at(numbers.getKernelSpatialDimensions()[i]),
         output = at(numbers.getOutputSpatialDimensions()[i]);
    int64_t size = left.getShape()[dim], width = right.getShape()[kernel],
            results = to.getShape()[output];
    int64_t stride = getOr(op.getWindowStrides(), i, 1),
            dilation = getOr(op.getRhsDilation(), i, 1);
    bool isTurned = op.getWindowReversal() && (*op.getWindowReversal())[i];
    bool isSum = width > results;
    if (isSum && isTurned)
      return;
    Window window{0, 0, dim, isSum ? width : results};
    window.begin = -getEdges(op)[2 * i];
    window.dilation = getOr(op.getLhsDilation(), i, 1);
    window.stride = isSum ? dilation : stride;
    window.extent =
        isSum ? (results - 1) * stride + 1 : (width - 1) * dilation + 1;
    window.factor = rule.add(std::min(size, window.results),
                             isSum ? FactorKind::Reduce : FactorKind::Pass);
    lhs[dim] = {window.factor};
    (isSum ? rhs[kernel] : result[output]) = {window.factor};
    rule.windows.push_back(window);
  }

  stablehlo::ConvolutionOp op;
  stablehlo::ConvDimensionNumbersAttr numbers;
  RankedTensorType left, right, to;
  TensorFactors lhs, rhs, result;
  Rule rule;
};
} // namespace

std::optional<Rule> alula::partition::getConvRule(Operation *op) {
  auto conv = dyn_cast<stablehlo::ConvolutionOp>(op);
  if (!conv)
    return std::nullopt;
  return ConvRule(conv).run();
}

std::optional<SmallVector<Value>>
alula::partition::buildLocalConv(LocalSite &site) {
  auto op = dyn_cast<stablehlo::ConvolutionOp>(site.op);
  if (!op)
    return std::nullopt;
  stablehlo::ConvDimensionNumbersAttr numbers = op.getDimensionNumbers();
  SmallVector<int64_t> edges = getEdges(op);
  OpBuilder &builder = site.builder;
  Type element = getElementTypeOrSelf(op.getLhs().getType());
  auto scalar = RankedTensorType::get({}, element);
  site.readWindows(
      [&](const Window &) -> Value {
        return builder.create<stablehlo::ConstantOp>(
            op.getLoc(), getNeutral(Reducer::Sum, element, scalar));
      },
      [&](const Window &window, int64_t low, int64_t high) {
        for (auto [i, dim] :
             llvm::enumerate(numbers.getInputSpatialDimensions()))
          if (at(dim) == window.dim) {
            edges[2 * i] = low;
            edges[2 * i + 1] = high;
          }
      });
  auto shape = RankedTensorType::get(
      {static_cast<int64_t>(edges.size() / 2), 2}, builder.getI64Type());
  SmallVector<NamedAttribute> changed = {
      builder.getNamedAttr("padding", DenseIntElementsAttr::get(shape, edges))};
  // Groups that are elsewhere.
  auto groups = static_cast<int64_t>(op.getFeatureGroupCount());
  if (groups != 1 && op.getBatchGroupCount() == 1) {
    unsigned group =
        site.rule.operands[0][at(numbers.getInputFeatureDimension())].front();
    changed.push_back(builder.getNamedAttr(
        "feature_group_count", builder.getI64IntegerAttr(getPieceSize(
                                   groups, countShards(site.factors[group])))));
  }
  return site.clone(site, changed);
}
