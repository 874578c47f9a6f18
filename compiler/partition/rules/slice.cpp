// Slices and updates of slices: dimensions that are taken whole pass. Of one
// that is divided, where a slice begins that nobody knows, each device takes,
// or changes, what it has of the slice.

#include "compiler/partition/windows.h"

#include "dialect/stablehlo/ops.h"

using namespace mlir;
using namespace alula::partition;

namespace {
/// Bytes of an array that is small enough to be there as a whole.
constexpr int64_t smallBytes = 1 << 20;
/// Places are counted in i32.
constexpr int64_t mostElements = int64_t(1) << 30;

int64_t countBytes(RankedTensorType type) {
  return getBytes(type, Sharding(type.getRank()));
}

/// Whether it pays to gather an array once, before the loop that takes slices
/// of it.
bool isGatheredOnce(Operation *op, Value array) {
  return array.getParentRegion() != op->getParentRegion() &&
         countBytes(getStaticType(array)) <= smallBytes;
}

/// Equal sizes pass. Of others a slice is a sum of what devices have of it,
/// unless the array itself is little more than that.
Rule getDynamicSliceRule(stablehlo::DynamicSliceOp op) {
  Rule rule;
  rule.mayPad = true;
  rule.linearOperands = 1;
  RankedTensorType from = getStaticType(op.getOperand()),
                   to = getStaticType(op.getResult());
  bool hasZero = bool(getNeutral(Reducer::Sum, from.getElementType(), from));
  bool isWanted = hasZero && !isGatheredOnce(op, op.getOperand());
  TensorFactors operand, result;
  for (auto [size, extent] : llvm::zip_equal(from.getShape(), to.getShape())) {
    if (size == extent) {
      operand.push_back({rule.add(size)});
      result.push_back(operand.back());
      continue;
    }
    bool isSum =
        isWanted && extent > 0 && 2 * extent <= size && size <= mostElements;
    operand.push_back(
        {rule.add(size, isSum ? FactorKind::Reduce : FactorKind::Replicate)});
    result.push_back({rule.add(extent, FactorKind::Replicate)});
  }
  rule.operands = {operand};
  rule.operands.resize(op->getNumOperands());
  rule.results = {result};
  return rule;
}

/// An update takes what is read beside it as it comes, and leaves the rest.
Rule getUpdateRule(stablehlo::DynamicUpdateSliceOp op) {
  Rule rule;
  rule.mayPad = true;
  rule.linearOperands = 2;
  RankedTensorType type = getStaticType(op.getOperand());
  bool hasZero = bool(getNeutral(Reducer::Sum, type.getElementType(), type));
  TensorFactors operand, update;
  for (auto [size, extent] : llvm::zip_equal(
           type.getShape(), getStaticType(op.getUpdate()).getShape())) {
    bool isPiecewise = hasZero && extent > 0 && size <= mostElements;
    operand.push_back({rule.add(size, isPiecewise || size == extent
                                          ? FactorKind::Pass
                                          : FactorKind::Replicate)});
    update.push_back(operand.back());
    if (size != extent)
      update.back() = {rule.add(extent, FactorKind::Replicate)};
  }
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

/// What changes nothing in a sum, not even the sign of a zero.
Value buildNothing(OpBuilder &builder, Location location, Type element) {
  auto type = RankedTensorType::get({}, element);
  TypedAttr value = getNeutral(Reducer::Sum, element, type);
  if (isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(element))
    value = SplatElementsAttr::get(
        type, APFloat::getZero(cast<FloatType>(element).getFloatSemantics(),
                               /*Negative=*/true));
  return builder.create<stablehlo::ConstantOp>(location, value);
}

/// The slice that an op takes or changes, as a device sees it that has pieces
/// along some dimensions: along each of these `part` rows from `begin` on are
/// what may be of the slice, and its row `offset` is the first of them.
class LocalSlice {
public:
  /// `array` and `slice`: what factors have; `starts`: the first operand that
  /// is a place.
  LocalSlice(LocalSite &site, const TensorFactors &array,
             const TensorFactors &slice, RankedTensorType whole,
             ArrayRef<int64_t> extents, size_t starts)
      : builder(site.builder), location(site.op->getLoc()) {
    auto piece = cast<RankedTensorType>(site.operands[0].getType());
    sizes.assign(extents.begin(), extents.end());
    for (size_t dim = 0; dim < array.size(); ++dim) {
      Spans spans = site.getSpans(array, dim);
      if (array[dim] == slice[dim] || spans.empty())
        continue;
      sizes[dim] = std::min(extents[dim], piece.getShape()[dim]);
      dims.push_back({dim, extents[dim], sizes[dim], Value()});
    }
    if (dims.empty())
      return;
    // All places are of one type.
    for (size_t dim = 0; dim < array.size(); ++dim) {
      Value &start = site.operands[starts + dim];
      bool isWhole = array[dim] == slice[dim];
      start = clamp(start, isWhole ? 0 : whole.getShape()[dim] - extents[dim]);
    }
    for (Dim &dim : dims) {
      Value &start = site.operands[starts + dim.dim];
      int64_t rows = piece.getShape()[dim.dim];
      Value first = builder.create<stablehlo::MulOp>(
          location, site.getShard(site.getSpans(array, dim.dim)), number(rows));
      Value local =
          builder.create<stablehlo::SubtractOp>(location, start, first);
      start = builder.create<stablehlo::ClampOp>(
          location, local.getType(), number(0), local, number(rows - dim.part));
      dim.offset =
          builder.create<stablehlo::SubtractOp>(location, local, start);
    }
  }

  bool isWhole() const { return dims.empty(); }
  /// How long what is read of the piece is.
  ArrayRef<int64_t> getSizes() const { return sizes; }

  /// Of what was read the slice, with `fill` where others have it.
  Value extend(Value read, Value fill) {
    for (const Dim &dim : dims) {
      if (dim.extent == 1) {
        read = buildMask(builder, read, dim.dim, dim.offset, 1, fill);
        continue;
      }
      // Its rows are [offset, + extent), of which there are some.
      Value padded = pad(read, dim.dim, dim.extent, fill);
      read = take(padded, dim.dim, add(dim.extent, dim.offset), dim.extent);
    }
    return read;
  }

  /// What is to be there instead of `read` if this is the slice.
  Value merge(Value slice, Value read) {
    for (const Dim &dim : dims) {
      if (dim.extent == 1)
        continue;
      Value fill = buildNothing(builder, location, getElementTypeOrSelf(slice));
      Value padded = pad(slice, dim.dim, dim.part, fill);
      slice = take(padded, dim.dim, subtract(dim.part, dim.offset), dim.part);
    }
    for (const Dim &dim : dims)
      slice = buildMask(builder, slice, dim.dim, subtract(0, dim.offset),
                        dim.extent, read);
    return slice;
  }

private:
  struct Dim {
    size_t dim;
    int64_t extent, part;
    /// i32.
    Value offset;
  };

  Value number(int64_t value) {
    return buildNumber(builder, location, value, builder.getI32Type());
  }
  Value add(int64_t value, Value other) {
    return builder.create<stablehlo::AddOp>(location, number(value), other);
  }
  Value subtract(int64_t value, Value other) {
    return builder.create<stablehlo::SubtractOp>(location, number(value),
                                                 other);
  }

  /// i32 of what any integer says, in [0, last].
  Value clamp(Value start, int64_t last) {
    Type i32 = builder.getI32Type(), type = getElementTypeOrSelf(start);
    auto convert = [&](Value value) -> Value {
      if (getElementTypeOrSelf(value) == i32)
        return value;
      return builder.create<stablehlo::ConvertOp>(
          location, RankedTensorType::get({}, i32), value);
    };
    // Small types may have no such number.
    if (type.getIntOrFloatBitWidth() < 32)
      start = convert(start);
    type = getElementTypeOrSelf(start);
    return convert(builder.create<stablehlo::ClampOp>(
        location, start.getType(), buildNumber(builder, location, 0, type),
        start, buildNumber(builder, location, last, type)));
  }

  Value pad(Value value, size_t dim, int64_t rows, Value fill) {
    SmallVector<int64_t> ends(
        static_cast<size_t>(cast<RankedTensorType>(value.getType()).getRank()),
        0);
    SmallVector<int64_t> inner(ends);
    ends[dim] = rows;
    return builder.create<stablehlo::PadOp>(location, value, fill, ends, ends,
                                            inner);
  }

  Value take(Value value, size_t dim, Value start, int64_t rows) {
    SmallVector<int64_t> shape(
        cast<RankedTensorType>(value.getType()).getShape());
    SmallVector<Value> starts(shape.size(), number(0));
    starts[dim] = start;
    shape[dim] = rows;
    return builder.create<stablehlo::DynamicSliceOp>(location, value, starts,
                                                     shape);
  }

  OpBuilder &builder;
  Location location;
  SmallVector<Dim, 1> dims;
  SmallVector<int64_t> sizes;
};

SmallVector<Value> buildDynamicSlice(LocalSite &site,
                                     stablehlo::DynamicSliceOp op) {
  OpBuilder &builder = site.builder;
  auto type = cast<RankedTensorType>(site.resultTypes[0]);
  LocalSlice slice(site, site.rule.operands[0], site.rule.results[0],
                   getStaticType(op.getOperand()), type.getShape(), 1);
  site.resultTypes[0] = type.clone(slice.getSizes());
  Value read = site.clone(
      site, {builder.getNamedAttr("slice_sizes", builder.getDenseI64ArrayAttr(
                                                     slice.getSizes()))})[0];
  if (slice.isWhole())
    return {read};
  return {slice.extend(
      read, buildNothing(builder, op.getLoc(), type.getElementType()))};
}

SmallVector<Value> buildDynamicUpdate(LocalSite &site,
                                      stablehlo::DynamicUpdateSliceOp op) {
  auto update = cast<RankedTensorType>(site.operands[1].getType());
  LocalSlice slice(site, site.rule.operands[0], site.rule.operands[1],
                   getStaticType(op.getOperand()), update.getShape(), 2);
  if (!slice.isWhole()) {
    Value read = site.builder.create<stablehlo::DynamicSliceOp>(
        op.getLoc(), site.operands[0],
        ArrayRef<Value>(site.operands).drop_front(2), slice.getSizes());
    site.operands[1] = slice.merge(site.operands[1], read);
  }
  return site.clone(site, {});
}
} // namespace

std::optional<Rule> alula::partition::getSliceRule(Operation *op) {
  if (auto update = dyn_cast<stablehlo::DynamicUpdateSliceOp>(op))
    return getUpdateRule(update);
  if (auto slice = dyn_cast<stablehlo::SliceOp>(op))
    return getStaticRule(slice);
  if (auto slice = dyn_cast<stablehlo::DynamicSliceOp>(op))
    return getDynamicSliceRule(slice);
  return std::nullopt;
}

std::optional<SmallVector<Value>>
alula::partition::buildLocalSlice(LocalSite &site) {
  if (auto dynamic = dyn_cast<stablehlo::DynamicSliceOp>(site.op))
    return buildDynamicSlice(site, dynamic);
  if (auto update = dyn_cast<stablehlo::DynamicUpdateSliceOp>(site.op))
    return buildDynamicUpdate(site, update);
  auto slice = dyn_cast<stablehlo::SliceOp>(site.op);
  if (!slice)
    return std::nullopt;
  Builder &builder = site.builder;
  auto type = cast<RankedTensorType>(site.resultTypes[0]);
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
