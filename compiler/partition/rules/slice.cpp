// Slices and updates of slices: dimensions that are taken whole pass.

#include "compiler/partition/rule.h"

#include "dialect/stablehlo/ops.h"

using namespace mlir;
using namespace alula::partition;

namespace {
/// A factor for each dimension where two shapes are the same and `isWhole`,
/// else one of each that is needed whole.
void addDims(Rule &rule, RankedTensorType a, RankedTensorType b,
             TensorFactors &first, TensorFactors &second,
             function_ref<bool(size_t)> isWhole) {
  for (auto [dim, sizes] :
       llvm::enumerate(llvm::zip_equal(a.getShape(), b.getShape()))) {
    auto [left, right] = sizes;
    if (left == right && isWhole(dim)) {
      unsigned factor = rule.add(left);
      first.push_back({factor});
      second.push_back({factor});
      continue;
    }
    first.push_back({rule.add(left, FactorKind::Replicate)});
    second.push_back({rule.add(right, FactorKind::Replicate)});
  }
}

/// An update takes what is read beside it as it comes, and leaves the rest.
Rule getUpdateRule(stablehlo::DynamicUpdateSliceOp op) {
  Rule rule;
  rule.mayPad = true;
  rule.linearOperands = 2;
  TensorFactors operand, update;
  addDims(rule, getStaticType(op.getOperand()), getStaticType(op.getUpdate()),
          operand, update, [](size_t) { return true; });
  rule.operands = {operand, update};
  rule.operands.resize(op->getNumOperands());
  rule.results = {operand};
  return rule;
}

/// Where it isn't all of a dimension, devices read what neighbours have.
Rule getStaticRule(stablehlo::SliceOp op) {
  Rule rule;
  rule.mayPad = true;
  rule.linearOperands = 1;
  TensorFactors tensor;
  for (auto [dim, from, to] :
       llvm::enumerate(getStaticType(op.getOperand()).getShape(),
                       getStaticType(op.getResult()).getShape())) {
    tensor.push_back({rule.add(std::min(from, to))});
    if (from == to)
      continue;
    Window window{tensor.back()[0], 0, dim, to};
    window.stride = op.getStrides()[dim];
    window.begin = op.getStartIndices()[dim];
    rule.windows.push_back(window);
  }
  rule.operands = {tensor};
  rule.results = {tensor};
  return rule;
}
} // namespace

std::optional<Rule> alula::partition::getSliceRule(Operation *op) {
  if (auto update = dyn_cast<stablehlo::DynamicUpdateSliceOp>(op))
    return getUpdateRule(update);
  auto slice = dyn_cast<stablehlo::SliceOp>(op);
  auto dynamic = dyn_cast<stablehlo::DynamicSliceOp>(op);
  if (slice)
    return getStaticRule(slice);
  if (!dynamic)
    return std::nullopt;
  Rule rule;
  rule.mayPad = true;
  TensorFactors operand, result;
  addDims(rule, getStaticType(op->getOperand(0)),
          getStaticType(op->getResult(0)), operand, result,
          [](size_t) { return true; });
  rule.linearOperands = 1;
  rule.operands = {operand};
  rule.operands.resize(op->getNumOperands());
  rule.results = {result};
  return rule;
}

std::optional<SmallVector<Value>>
alula::partition::buildLocalSlice(LocalSite &site) {
  Builder &builder = site.builder;
  auto type = dyn_cast<RankedTensorType>(site.resultTypes[0]);
  if (isa<stablehlo::DynamicSliceOp>(site.op))
    return site.clone(
        site, {builder.getNamedAttr("slice_sizes", builder.getDenseI64ArrayAttr(
                                                       type.getShape()))});
  auto slice = dyn_cast<stablehlo::SliceOp>(site.op);
  if (!slice)
    return std::nullopt;
  SmallVector<int64_t> limits(slice.getLimitIndices()),
      starts(slice.getStartIndices());
  for (auto [dim, limit] : llvm::enumerate(limits))
    if (!site.getSpans(site.rule.results[0], dim).empty()) {
      starts[dim] = 0;
      limit = (type.getShape()[dim] - 1) * slice.getStrides()[dim] + 1;
    }
  site.readWindows([](const Window &) { return Value(); },
                   [](const Window &, int64_t, int64_t) {});
  if (site.operands[0].getType() == type)
    return SmallVector<Value>{site.operands[0]};
  return site.clone(
      site, {builder.getNamedAttr("start_indices",
                                  builder.getDenseI64ArrayAttr(starts)),
             builder.getNamedAttr("limit_indices",
                                  builder.getDenseI64ArrayAttr(limits))});
}
