// Gathers and scatters: dimensions that are taken whole, batches, and places,
// of which each device looks up its own.

#include "compiler/partition/rule.h"

#include "dialect/stablehlo/ops.h"

using namespace mlir;
using namespace alula::partition;

namespace {
size_t at(int64_t dim) { return static_cast<size_t>(dim); }

/// Where `value` stands in a list.
std::optional<size_t> findIn(ArrayRef<int64_t> list, int64_t value) {
  const int64_t *found = llvm::find(list, value);
  if (found == list.end())
    return std::nullopt;
  return static_cast<size_t>(found - list.begin());
}

/// The dimensions that are not in a list.
SmallVector<int64_t> getOthers(int64_t rank, ArrayRef<int64_t> list) {
  SmallVector<int64_t> others;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (!llvm::is_contained(list, dim))
      others.push_back(dim);
  return others;
}

Rule getLookupRule(stablehlo::GatherOp op) {
  stablehlo::GatherDimensionNumbersAttr numbers = op.getDimensionNumbers();
  RankedTensorType from = getStaticType(op.getOperand()),
                   places = getStaticType(op.getStartIndices()),
                   to = getStaticType(op.getResult());
  Rule rule;
  // Places are clamped to what is there before they are looked up.
  rule.mayPad = true;
  TensorFactors operand(at(from.getRank())), indices(at(places.getRank())),
      result(at(to.getRank()));
  // Batches of places.
  SmallVector<int64_t> batch = getOthers(to.getRank(), numbers.getOffsetDims());
  for (auto [dim, target] : llvm::zip_equal(
           getOthers(places.getRank(), {numbers.getIndexVectorDim()}), batch)) {
    indices[at(dim)] = {rule.add(places.getShape()[at(dim)])};
    result[at(target)] = indices[at(dim)];
  }
  for (auto [dim, place] :
       llvm::zip_equal(numbers.getOperandBatchingDims(),
                       numbers.getStartIndicesBatchingDims()))
    operand[at(dim)] = indices[at(place)];
  bool hasZero = bool(getNeutral(Reducer::Sum, from.getElementType(), from));
  size_t window = 0;
  for (int64_t dim = 0; dim < from.getRank(); ++dim) {
    int64_t size = from.getShape()[at(dim)];
    if (llvm::is_contained(numbers.getOperandBatchingDims(), dim))
      continue;
    if (llvm::is_contained(numbers.getCollapsedSliceDims(), dim)) {
      bool isLookedUp =
          hasZero && findIn(numbers.getStartIndexMap(), dim).has_value();
      operand[at(dim)] = {rule.add(size, isLookedUp ? FactorKind::Reduce
                                                    : FactorKind::Replicate)};
      continue;
    }
    auto target = at(numbers.getOffsetDims()[window++]);
    if (op.getSliceSizes()[at(dim)] == size) {
      operand[at(dim)] = {rule.add(size)};
      result[target] = operand[at(dim)];
      continue;
    }
    operand[at(dim)] = {rule.add(size, FactorKind::Replicate)};
    result[target] = {
        rule.add(op.getSliceSizes()[at(dim)], FactorKind::Replicate)};
  }
  rule.operands = {operand, indices};
  rule.results = {result};
  return rule;
}

std::optional<Reducer> findCombination(stablehlo::ScatterOp op) {
  if (op.getInputs().size() != 1)
    return std::nullopt;
  std::optional<Reducer> reducer = findReducer(op.getUpdateComputation());
  RankedTensorType type = getStaticType(op.getInputs()[0]);
  if (!reducer || !getNeutral(*reducer, type.getElementType(), type))
    return std::nullopt;
  return reducer;
}

Rule getUpdateRule(stablehlo::ScatterOp op) {
  stablehlo::ScatterDimensionNumbersAttr numbers =
      op.getScatterDimensionNumbers();
  RankedTensorType to = getStaticType(op.getInputs()[0]),
                   places = getStaticType(op.getScatterIndices()),
                   from = getStaticType(op.getUpdates()[0]);
  Rule rule;
  // What is written behind the end gets into padding.
  rule.mayPad = true;
  std::optional<Reducer> reducer = findCombination(op);
  rule.reducer = reducer.value_or(Reducer::Sum);
  FactorKind kind = reducer ? FactorKind::Reduce : FactorKind::Replicate;
  TensorFactors input(at(to.getRank())), indices(at(places.getRank())),
      updates(at(from.getRank()));
  for (auto [dim, source] : llvm::zip_equal(
           getOthers(places.getRank(), {numbers.getIndexVectorDim()}),
           getOthers(from.getRank(), numbers.getUpdateWindowDims()))) {
    bool isBatch =
        llvm::is_contained(numbers.getScatterIndicesBatchingDims(), dim);
    indices[at(dim)] = {rule.add(places.getShape()[at(dim)],
                                 isBatch ? FactorKind::Pass : kind)};
    updates[at(source)] = indices[at(dim)];
  }
  for (auto [dim, place] :
       llvm::zip_equal(numbers.getInputBatchingDims(),
                       numbers.getScatterIndicesBatchingDims()))
    input[at(dim)] = indices[at(place)];
  size_t window = 0;
  for (int64_t dim = 0; dim < to.getRank(); ++dim) {
    int64_t size = to.getShape()[at(dim)];
    if (llvm::is_contained(numbers.getInputBatchingDims(), dim))
      continue;
    if (llvm::is_contained(numbers.getInsertedWindowDims(), dim)) {
      bool isLookedUp =
          findIn(numbers.getScatterDimsToOperandDims(), dim).has_value();
      input[at(dim)] = {rule.add(size, isLookedUp ? FactorKind::Pass
                                                  : FactorKind::Replicate)};
      continue;
    }
    auto source = at(numbers.getUpdateWindowDims()[window++]);
    if (from.getShape()[source] == size) {
      input[at(dim)] = {rule.add(size)};
      updates[source] = input[at(dim)];
      continue;
    }
    input[at(dim)] = {rule.add(size, FactorKind::Replicate)};
    updates[source] = {
        rule.add(from.getShape()[source], FactorKind::Replicate)};
  }
  size_t count = op.getInputs().size();
  rule.operands.assign(count, input);
  rule.operands.push_back(indices);
  rule.operands.append(count, updates);
  rule.results.assign(count, input);
  return rule;
}

/// Places as this device counts them, along dimensions that it has a piece of.
class LocalPlaces {
public:
  /// `vectorDim`: of `places`; `dims`: what each component is a place in.
  LocalPlaces(LocalSite &site, Value places, int64_t vectorDim,
              ArrayRef<int64_t> dims, const TensorFactors &operand,
              RankedTensorType whole)
      : places(places), site(site), builder(site.builder),
        location(site.op->getLoc()), vectorDim(vectorDim), dims(dims),
        operand(operand), whole(whole) {
    widen();
  }

  /// Clamped: places outside of the whole are those at its end, and `isMine`
  /// says which are in the piece; else they are in no piece.
  void run(bool isClamped) {
    SmallVector<Value> parts;
    for (auto [i, dim] : llvm::enumerate(dims)) {
      Value part = getPart(static_cast<int64_t>(i));
      Spans spans = site.getSpans(operand, at(dim));
      if (!spans.empty())
        part = shift(part, spans, whole.getShape()[at(dim)], isClamped);
      parts.push_back(part);
    }
    if (parts.size() == 1)
      places = parts[0];
    else
      places = builder.create<stablehlo::ConcatenateOp>(
          location, places.getType(), parts, static_cast<uint64_t>(vectorDim));
  }

  Value places, isMine;

private:
  RankedTensorType getType() const {
    return cast<RankedTensorType>(places.getType());
  }

  /// Small types have no room for places in a whole array less their offset.
  void widen() {
    if (getType().getElementType().getIntOrFloatBitWidth() >= 32)
      return;
    places = builder.create<stablehlo::ConvertOp>(
        location, getType().clone(builder.getI32Type()), places);
  }

  Value getPart(int64_t component) {
    if (vectorDim == getType().getRank() || dims.size() == 1)
      return places;
    SmallVector<int64_t> starts(at(getType().getRank()), 0),
        strides(starts.size(), 1), limits(getType().getShape());
    starts[at(vectorDim)] = component;
    limits[at(vectorDim)] = component + 1;
    return builder.create<stablehlo::SliceOp>(location, places, starts, limits,
                                              strides);
  }

  Value spread(Value scalar, RankedTensorType type) {
    return builder.create<stablehlo::BroadcastInDimOp>(
        location, type, scalar, builder.getDenseI64ArrayAttr({}));
  }

  Value shift(Value part, ArrayRef<Span> spans, int64_t size, bool isClamped) {
    auto type = cast<RankedTensorType>(part.getType());
    Type element = type.getElementType();
    int64_t piece = getPieceSize(size, countShards(spans));
    auto number = [&](int64_t value) {
      return spread(buildNumber(builder, location, value, element), type);
    };
    Value zero = number(0);
    if (isClamped) {
      part = builder.create<stablehlo::MaxOp>(location, part, zero);
      part = builder.create<stablehlo::MinOp>(location, part, number(size - 1));
    }
    Value first = builder.create<stablehlo::MulOp>(
        location, site.getShard(spans),
        buildNumber(builder, location, piece, builder.getI32Type()));
    if (element != builder.getI32Type())
      first = builder.create<stablehlo::ConvertOp>(
          location, RankedTensorType::get({}, element), first);
    part = builder.create<stablehlo::SubtractOp>(location, part,
                                                 spread(first, type));
    if (!isClamped)
      return part;
    Value isIn = builder.create<stablehlo::AndOp>(
        location,
        builder.create<stablehlo::CompareOp>(
            location, part, zero, stablehlo::ComparisonDirection::GE),
        builder.create<stablehlo::CompareOp>(
            location, part, number(piece), stablehlo::ComparisonDirection::LT));
    // Without the dimension of components.
    SmallVector<int64_t> shape(type.getShape());
    if (vectorDim < type.getRank())
      shape.erase(shape.begin() + vectorDim);
    isIn = builder.create<stablehlo::ReshapeOp>(
        location, RankedTensorType::get(shape, builder.getI1Type()), isIn);
    isMine =
        isMine ? Value(builder.create<stablehlo::AndOp>(location, isMine, isIn))
               : isIn;
    return part;
  }

  LocalSite &site;
  OpBuilder &builder;
  Location location;
  int64_t vectorDim;
  ArrayRef<int64_t> dims;
  const TensorFactors &operand;
  RankedTensorType whole;
};

bool isAnySplit(const LocalSite &site, const TensorFactors &tensor,
                ArrayRef<int64_t> dims) {
  return llvm::any_of(dims, [&](int64_t dim) {
    return !site.getSpans(tensor, at(dim)).empty();
  });
}

/// The factors of these dimensions.
TensorFactors keepDims(const TensorFactors &tensor, ArrayRef<int64_t> dims) {
  TensorFactors kept(tensor.size());
  for (int64_t dim : dims)
    kept[at(dim)] = tensor[at(dim)];
  return kept;
}

SmallVector<Value> buildLookup(LocalSite &site, stablehlo::GatherOp op) {
  stablehlo::GatherDimensionNumbersAttr numbers = op.getDimensionNumbers();
  OpBuilder &builder = site.builder;
  const TensorFactors &operand = site.rule.operands[0];
  SmallVector<int64_t> sizes(op.getSliceSizes());
  RankedTensorType from = getStaticType(op.getOperand());
  auto piece = cast<RankedTensorType>(site.operands[0].getType());
  for (int64_t dim = 0; dim < from.getRank(); ++dim)
    if (sizes[at(dim)] == from.getShape()[at(dim)] &&
        !llvm::is_contained(numbers.getCollapsedSliceDims(), dim) &&
        !llvm::is_contained(numbers.getOperandBatchingDims(), dim))
      sizes[at(dim)] = piece.getShape()[at(dim)];
  NamedAttribute attribute =
      builder.getNamedAttr("slice_sizes", builder.getDenseI64ArrayAttr(sizes));
  if (!isAnySplit(site, operand, numbers.getCollapsedSliceDims()))
    return site.clone(site, {attribute});
  // Only looked up dimensions are shifted; windows begin where they did.
  TensorFactors lookedUp = keepDims(operand, numbers.getCollapsedSliceDims());
  LocalPlaces places(site, site.operands[1], numbers.getIndexVectorDim(),
                     numbers.getStartIndexMap(), lookedUp, from);
  places.run(/*isClamped=*/true);
  site.operands[1] = places.places;
  Value found = site.clone(site, {attribute})[0];
  auto type = cast<RankedTensorType>(found.getType());
  Value isMine = builder.create<stablehlo::BroadcastInDimOp>(
      op.getLoc(), RankedTensorType::get(type.getShape(), builder.getI1Type()),
      places.isMine,
      builder.getDenseI64ArrayAttr(
          getOthers(type.getRank(), numbers.getOffsetDims())));
  Value zeros = builder.create<stablehlo::ConstantOp>(
      op.getLoc(), getNeutral(Reducer::Sum, type.getElementType(), type));
  return {builder.create<stablehlo::SelectOp>(op.getLoc(), type, isMine, found,
                                              zeros)};
}

/// Of several devices that each add some updates one begins with what is there.
Value keepOnce(LocalSite &site, stablehlo::ScatterOp op, ArrayRef<Span> parts) {
  Value input = site.operands[0];
  bool countsOnce = site.rule.reducer == Reducer::Sum ||
                    site.rule.reducer == Reducer::Product;
  if (!countsOnce || isNeutral(op.getInputs()[0], site.rule.reducer))
    return input;
  OpBuilder &builder = site.builder;
  Location location = op.getLoc();
  auto type = cast<RankedTensorType>(input.getType());
  Value neutral = builder.create<stablehlo::ConstantOp>(
      location, getNeutral(site.rule.reducer, type.getElementType(), type));
  Value isFirst = builder.create<stablehlo::CompareOp>(
      location, site.getShard(parts),
      buildNumber(builder, location, 0, builder.getI32Type()),
      stablehlo::ComparisonDirection::EQ);
  return builder.create<stablehlo::SelectOp>(location, type, isFirst, input,
                                             neutral);
}

SmallVector<Value> buildUpdate(LocalSite &site, stablehlo::ScatterOp op) {
  stablehlo::ScatterDimensionNumbersAttr numbers =
      op.getScatterDimensionNumbers();
  size_t count = op.getInputs().size();
  Spans parts;
  for (auto [factor, spans] : llvm::zip_equal(site.rule.factors, site.factors))
    if (factor.kind == FactorKind::Reduce)
      append(parts, spans);
  if (!parts.empty())
    site.operands[0] = keepOnce(site, op, parts);
  const TensorFactors &input = site.rule.operands[0];
  if (isAnySplit(site, input, numbers.getInsertedWindowDims())) {
    TensorFactors inserted = keepDims(input, numbers.getInsertedWindowDims());
    LocalPlaces places(site, site.operands[count], numbers.getIndexVectorDim(),
                       numbers.getScatterDimsToOperandDims(), inserted,
                       getStaticType(op.getInputs()[0]));
    places.run(/*isClamped=*/false);
    site.operands[count] = places.places;
  }
  return site.clone(site, {});
}
} // namespace

std::optional<Rule> alula::partition::getGatherScatterRule(Operation *op) {
  if (auto gather = dyn_cast<stablehlo::GatherOp>(op))
    return getLookupRule(gather);
  if (auto scatter = dyn_cast<stablehlo::ScatterOp>(op))
    return getUpdateRule(scatter);
  return std::nullopt;
}

std::optional<SmallVector<Value>>
alula::partition::buildLocalGatherScatter(LocalSite &site) {
  if (auto gather = dyn_cast<stablehlo::GatherOp>(site.op))
    return buildLookup(site, gather);
  if (auto scatter = dyn_cast<stablehlo::ScatterOp>(site.op))
    return buildUpdate(site, scatter);
  return std::nullopt;
}
