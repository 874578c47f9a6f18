// Constants, iota, broadcasts, reshapes, transposes, concatenations, pads.

#include "compiler/partition/windows.h"

#include "dialect/stablehlo/ops.h"

#include <numeric>

using namespace mlir;
using namespace alula::partition;

namespace {
Rule getFreeRule(RankedTensorType type) {
  Rule rule;
  rule.mayPad = true;
  TensorFactors &result = rule.results.emplace_back();
  for (int64_t size : type.getShape())
    result.push_back({rule.add(size)});
  return rule;
}

Rule getBroadcastRule(stablehlo::BroadcastInDimOp op) {
  Rule rule = getFreeRule(getStaticType(op.getResult()));
  rule.linearOperands = 1;
  TensorFactors &operand = rule.operands.emplace_back();
  RankedTensorType from = getStaticType(op.getOperand());
  for (auto [size, dim] :
       llvm::zip_equal(from.getShape(), op.getBroadcastDimensions())) {
    auto at = static_cast<size_t>(dim);
    operand.emplace_back();
    if (size == rule.factors[at].size)
      operand.back() = rule.results[0][at];
  }
  return rule;
}

Rule getTransposeRule(stablehlo::TransposeOp op) {
  Rule rule = getFreeRule(getStaticType(op.getResult()));
  rule.linearOperands = 1;
  TensorFactors operand(op.getPermutation().size());
  for (auto [to, from] : llvm::enumerate(op.getPermutation()))
    operand[static_cast<size_t>(from)] = rule.results[0][to];
  rule.operands.push_back(std::move(operand));
  return rule;
}

/// Walks both shapes from the major end; what both have is a factor of both.
class ReshapeWalk {
public:
  ReshapeWalk(RankedTensorType from, RankedTensorType to)
      : from(from.getShape()), to(to.getShape()), source(from.getRank()),
        target(to.getRank()) {}

  Rule run() {
    while (step())
      ;
    rule.linearOperands = 1;
    rule.mayPad = true;
    rule.operands = {source};
    rule.results = {target};
    return rule;
  }

private:
  /// The next dimension of which something is left.
  static bool advance(ArrayRef<int64_t> shape, size_t &dim, int64_t &left) {
    while (left == 1) {
      if (dim + 1 >= shape.size())
        return false;
      left = shape[++dim];
    }
    return true;
  }

  bool step() {
    if (!isStarted) {
      isStarted = true;
      if (from.empty() || to.empty())
        return false;
      leftFrom = from[0];
      leftTo = to[0];
    }
    bool hasFrom = advance(from, dimFrom, leftFrom),
         hasTo = advance(to, dimTo, leftTo);
    if (!hasFrom || !hasTo)
      return false;
    if (leftFrom % leftTo && leftTo % leftFrom)
      return stepApart();
    int64_t size = std::min(leftFrom, leftTo);
    unsigned factor = rule.add(size);
    source[dimFrom].push_back(factor);
    target[dimTo].push_back(factor);
    leftFrom /= size;
    leftTo /= size;
    return true;
  }

  /// What both have is taken, the rest is each one's own until the products of
  /// both are equal again.
  bool stepApart() {
    int64_t shared = std::gcd(leftFrom, leftTo);
    if (shared > 1) {
      unsigned factor = rule.add(shared);
      source[dimFrom].push_back(factor);
      target[dimTo].push_back(factor);
      leftFrom /= shared;
      leftTo /= shared;
    }
    int64_t productFrom = leftFrom, productTo = leftTo;
    source[dimFrom].push_back(rule.add(leftFrom, FactorKind::Replicate));
    target[dimTo].push_back(rule.add(leftTo, FactorKind::Replicate));
    while (productFrom != productTo) {
      bool isSource = productFrom < productTo;
      size_t &dim = isSource ? dimFrom : dimTo;
      int64_t size = (isSource ? from : to)[++dim];
      if (size > 1)
        (isSource ? source : target)[dim].push_back(
            rule.add(size, FactorKind::Replicate));
      (isSource ? productFrom : productTo) *= size;
    }
    leftFrom = leftTo = 1;
    return true;
  }

  ArrayRef<int64_t> from, to;
  TensorFactors source, target;
  Rule rule;
  bool isStarted = false;
  size_t dimFrom = 0, dimTo = 0;
  int64_t leftFrom = 1, leftTo = 1;
};

std::optional<Rule> getBitcastRule(stablehlo::BitcastConvertOp op) {
  RankedTensorType from = getStaticType(op.getOperand()),
                   to = getStaticType(op.getResult());
  // Bits of a wider element are a last dimension.
  Rule rule = getFreeRule(from.getRank() < to.getRank() ? from : to);
  TensorFactors shared = rule.results[0], longer = shared;
  for (int64_t rank = static_cast<int64_t>(shared.size());
       rank < std::max(from.getRank(), to.getRank()); ++rank)
    longer.emplace_back();
  rule.operands = {from.getRank() < to.getRank() ? shared : longer};
  rule.results = {from.getRank() < to.getRank() ? longer : shared};
  return rule;
}

/// Operands along dimension `dim`: where their elements go.
Window getConcatenated(stablehlo::ConcatenateOp op, size_t operand,
                       unsigned factor) {
  auto at = static_cast<size_t>(op.getDimension());
  Window window{factor, operand, at,
                getStaticType(op.getResult()).getShape()[at]};
  for (Value before : op.getInputs().take_front(operand))
    window.begin -= getStaticType(before).getShape()[at];
  return window;
}

/// Along dimension `dim` pieces go where they belong; operands that are much
/// smaller than the result are whole everywhere.
Rule getConcatenateRule(stablehlo::ConcatenateOp op) {
  Rule rule = getFreeRule(getStaticType(op.getResult()));
  auto at = static_cast<size_t>(op.getDimension());
  int64_t all = rule.factors[at].size;
  rule.linearOperands = op.getInputs().size();
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    TensorFactors &operand = rule.operands.emplace_back(rule.results[0]);
    int64_t size = getStaticType(input).getShape()[at];
    if (size * 8 < all) {
      operand[at] = {rule.add(size, FactorKind::Replicate)};
      continue;
    }
    rule.factors[at].size = std::min(rule.factors[at].size, size);
    rule.windows.push_back(getConcatenated(op, i, static_cast<unsigned>(at)));
  }
  return rule;
}

/// Each device reads of each operand what its piece has of it.
std::optional<SmallVector<Value>>
buildConcatenate(LocalSite &site, stablehlo::ConcatenateOp op) {
  auto at = static_cast<size_t>(op.getDimension());
  Spans spans = site.getSpans(site.rule.results[0], at);
  if (spans.empty())
    return std::nullopt;
  auto none = [](const Window &) { return Value(); };
  site.readWindows(none, [](const Window &, int64_t, int64_t) {});
  OpBuilder &builder = site.builder;
  Location location = op.getLoc();
  Type i32 = builder.getI32Type();
  int64_t piece = cast<RankedTensorType>(site.resultTypes[0]).getShape()[at];
  Value first = builder.create<stablehlo::MulOp>(
      location, site.getShard(spans),
      buildNumber(builder, location, piece, i32));
  Value made;
  for (size_t i = op.getInputs().size(); i-- > 0;) {
    Window window = getConcatenated(op, i, static_cast<unsigned>(at));
    int64_t size = getStaticType(op.getInputs()[i]).getShape()[at];
    Value operand = site.operands[i];
    if (!findWindow(site.rule, i, at))
      operand = site.readWhole(operand, window,
                               *getReads(window, size, countShards(spans)));
    // From the last one to the first: whoever begins later has been there.
    if (made)
      made = buildMask(builder, operand, at, first, size - window.begin, made);
    else
      made = operand;
  }
  return SmallVector<Value>{made};
}

Rule getPadRule(stablehlo::PadOp op) {
  Rule rule = getFreeRule(getStaticType(op.getResult()));
  RankedTensorType from = getStaticType(op.getOperand());
  for (auto [dim, size] : llvm::enumerate(from.getShape())) {
    int64_t results = rule.factors[dim].size;
    if (op.getEdgePaddingLow()[dim] == 0 && op.getEdgePaddingHigh()[dim] == 0 &&
        (op.getInteriorPadding()[dim] == 0 || size < 2))
      continue;
    rule.factors[dim].size = std::min(results, size);
    Window window{static_cast<unsigned>(dim), 0, dim, results};
    window.begin = -op.getEdgePaddingLow()[dim];
    window.dilation = op.getInteriorPadding()[dim] + 1;
    rule.windows.push_back(window);
  }
  rule.operands = {rule.results[0], TensorFactors()};
  return rule;
}

std::optional<SmallVector<Value>> buildPad(LocalSite &site,
                                           stablehlo::PadOp op) {
  SmallVector<int64_t> low(op.getEdgePaddingLow()),
      high(op.getEdgePaddingHigh());
  site.readWindows([&](const Window &) { return site.operands[1]; },
                   [&](const Window &window, int64_t first, int64_t last) {
                     low[window.dim] = first;
                     high[window.dim] = last;
                   });
  Builder &builder = site.builder;
  return site.clone(site,
                    {builder.getNamedAttr("edge_padding_low",
                                          builder.getDenseI64ArrayAttr(low)),
                     builder.getNamedAttr("edge_padding_high",
                                          builder.getDenseI64ArrayAttr(high))});
}

Rule getReverseRule(stablehlo::ReverseOp op) {
  Rule rule = getFreeRule(getStaticType(op.getResult()));
  for (int64_t dim : op.getDimensions()) {
    auto at = static_cast<size_t>(dim);
    Window window{static_cast<unsigned>(dim), 0, at, rule.factors[at].size};
    window.isReversed = true;
    rule.windows.push_back(window);
  }
  rule.linearOperands = 1;
  rule.operands = {rule.results[0]};
  return rule;
}

/// Each device's numbers begin where its piece does.
SmallVector<Value> buildIota(LocalSite &site, stablehlo::IotaOp op) {
  auto dim = static_cast<size_t>(op.getIotaDimension());
  SmallVector<Value> values = site.clone(site, {});
  Spans spans = site.getSpans(site.rule.results[0], dim);
  if (spans.empty())
    return values;
  OpBuilder &builder = site.builder;
  Location location = op.getLoc();
  auto type = cast<RankedTensorType>(values[0].getType());
  Type i32 = builder.getI32Type();
  Value first = builder.create<stablehlo::MulOp>(
      location, site.getShard(spans),
      buildNumber(builder, location,
                  type.getDimSize(static_cast<unsigned>(dim)), i32));
  if (type.getElementType() != i32)
    first = builder.create<stablehlo::ConvertOp>(
        location, RankedTensorType::get({}, type.getElementType()), first);
  Value all = builder.create<stablehlo::BroadcastInDimOp>(
      location, type, first, builder.getDenseI64ArrayAttr({}));
  return {builder.create<stablehlo::AddOp>(location, values[0], all)};
}

/// Sums of numbers of the type are exact.
bool isWide(Type element) {
  return isa<Float32Type, Float64Type>(element) ||
         (isa<IntegerType>(element) && element.getIntOrFloatBitWidth() >= 32);
}
} // namespace

std::optional<Rule> alula::partition::getShapeRule(Operation *op) {
  if (auto constant = dyn_cast<stablehlo::ConstantOp>(op)) {
    if (!isa<SplatElementsAttr>(constant.getValue()))
      return std::nullopt;
    return getFreeRule(getStaticType(constant.getOutput()));
  }
  if (auto iota = dyn_cast<stablehlo::IotaOp>(op)) {
    RankedTensorType type = getStaticType(iota.getOutput());
    Rule rule = getFreeRule(type);
    auto dim = static_cast<size_t>(iota.getIotaDimension());
    if (!isWide(type.getElementType()) ||
        (isa<Float32Type>(type.getElementType()) &&
         type.getShape()[dim] > (int64_t(1) << 24)))
      rule.factors[dim].kind = FactorKind::Replicate;
    return rule;
  }
  if (auto broadcast = dyn_cast<stablehlo::BroadcastInDimOp>(op))
    return getBroadcastRule(broadcast);
  if (auto transpose = dyn_cast<stablehlo::TransposeOp>(op))
    return getTransposeRule(transpose);
  if (auto reshape = dyn_cast<stablehlo::ReshapeOp>(op)) {
    RankedTensorType from = getStaticType(reshape.getOperand()),
                     to = getStaticType(reshape.getResult());
    if (from.getNumElements() == 0)
      return std::nullopt;
    return ReshapeWalk(from, to).run();
  }
  if (auto bitcast = dyn_cast<stablehlo::BitcastConvertOp>(op))
    return getBitcastRule(bitcast);
  if (auto concatenate = dyn_cast<stablehlo::ConcatenateOp>(op))
    return getConcatenateRule(concatenate);
  if (auto pad = dyn_cast<stablehlo::PadOp>(op))
    return getPadRule(pad);
  if (auto reverse = dyn_cast<stablehlo::ReverseOp>(op))
    return getReverseRule(reverse);
  return std::nullopt;
}

std::optional<SmallVector<Value>>
alula::partition::buildLocalShape(LocalSite &site) {
  if (auto iota = dyn_cast<stablehlo::IotaOp>(site.op))
    return buildIota(site, iota);
  if (auto concatenate = dyn_cast<stablehlo::ConcatenateOp>(site.op))
    return buildConcatenate(site, concatenate);
  if (auto pad = dyn_cast<stablehlo::PadOp>(site.op))
    return buildPad(site, pad);
  if (isa<stablehlo::ReverseOp>(site.op)) {
    site.readWindows([](const Window &) { return Value(); },
                     [](const Window &, int64_t, int64_t) {});
    return site.clone(site, {});
  }
  if (auto constant = dyn_cast<stablehlo::ConstantOp>(site.op)) {
    auto type = cast<RankedTensorType>(site.resultTypes[0]);
    auto splat = cast<SplatElementsAttr>(constant.getValue());
    return SmallVector<Value>{site.builder.create<stablehlo::ConstantOp>(
        constant.getLoc(), splat.resizeSplat(type))};
  }
  return std::nullopt;
}
