// The numbers of quantized types as formulas on stored values.
//
//   dequantize(q) = (q - zero point) * scale
//   quantize(x)   = round(x / scale + zero point), inside the storage range
//
// Each step rounds to the expressed type, but for the difference, which is
// exact: it is taken in f32, or in f64 if stored values have 32 bits, and
// rounds once. Rounding to an integer and conversion to storage are exact;
// conversion saturates and makes NaN zero, so that only a range narrower than
// the storage type has to be clamped.

#include "compiler/input/element_math.h"
#include "compiler/input/lower_quantized.h"

#include "dialect/newer/types.h"
#include "dialect/stablehlo/ops.h"
#include "dialect/stablehlo/type_rules.h"

#include "llvm/ADT/APSInt.h"

using namespace mlir;
using namespace alula::input;
using alula::newer::SubChannelQuantizedType;

namespace {
APFloat roundTo(double number, Type element) {
  APFloat value(number);
  bool losesInfo;
  value.convert(cast<FloatType>(element).getFloatSemantics(),
                APFloat::rmNearestTiesToEven, &losesInfo);
  return value;
}

/// The parameters of a quantized element type, and how they lie in a tensor.
struct Quantization {
  Quantization() = default;
  explicit Quantization(Type type);

  /// The tensor that has value k for the elements of pair k.
  Num spread(ElementMath &math, Type element, ArrayRef<Attribute> values);
  Num spreadReals(ElementMath &math, Type element, ArrayRef<double> values);

  bool hasZeroPoints() const {
    return llvm::any_of(zeroPoints, [](int64_t zero) { return zero != 0; });
  }
  unsigned getStorageWidth() const {
    return storage.getIntOrFloatBitWidth();
  }

  Type storage, expressed;
  int64_t min = 0, max = 0;
  SmallVector<double> scales;
  SmallVector<int64_t> zeroPoints;
  /// Of a type quantized per axis.
  std::optional<int64_t> axis;
  /// Of a type with sub-channels: how many blocks each dimension has.
  ArrayRef<int64_t> blockCounts;
};

Quantization::Quantization(Type type)
    : storage(getStorageType(type)),
      expressed(stablehlo::expressedType(type)) {
  if (auto blocks = dyn_cast<SubChannelQuantizedType>(type)) {
    const auto &facts = blocks.getQuantization();
    min = facts.storageMin;
    max = facts.storageMax;
    blockCounts = facts.scales.getType().getShape();
    for (APFloat scale : facts.scales.getValues<APFloat>()) {
      bool losesInfo;
      scale.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                    &losesInfo);
      scales.push_back(scale.convertToDouble());
    }
    for (const APInt &zero : facts.zeroPoints.getValues<APInt>())
      zeroPoints.push_back(facts.isSigned
                               ? zero.getSExtValue()
                               : static_cast<int64_t>(zero.getZExtValue()));
    return;
  }
  auto quantized = cast<quant::QuantizedType>(type);
  min = quantized.getStorageTypeMin();
  max = quantized.getStorageTypeMax();
  if (auto perAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(type)) {
    scales.assign(perAxis.getScales().begin(), perAxis.getScales().end());
    zeroPoints.assign(perAxis.getZeroPoints().begin(),
                      perAxis.getZeroPoints().end());
    axis = perAxis.getQuantizedDimension();
    return;
  }
  auto perTensor = cast<quant::UniformQuantizedType>(type);
  scales = {perTensor.getScale()};
  zeroPoints = {perTensor.getZeroPoint()};
}

/// values of shape `counts` → each repeated for its block of `type`, which is
/// static.
Value repeatBlocks(OpBuilder &builder, Location location, Value values,
                   ArrayRef<int64_t> counts, RankedTensorType type) {
  // A dimension of several blocks is split in two: its blocks, and inside one.
  SmallVector<int64_t> split, dims;
  for (auto [count, size] : llvm::zip_equal(counts, type.getShape())) {
    dims.push_back(static_cast<int64_t>(split.size()));
    if (count != 1)
      split.push_back(count);
    split.push_back(size / count);
  }
  Value repeated = builder.create<stablehlo::BroadcastInDimOp>(
      location, RankedTensorType::get(split, type.getElementType()), values,
      dims);
  if (repeated.getType() == type)
    return repeated;
  return builder.create<stablehlo::ReshapeOp>(location, type, repeated);
}

Num Quantization::spread(ElementMath &math, Type element,
                         ArrayRef<Attribute> values) {
  if (llvm::all_equal(values))
    return math.splat(element, cast<TypedAttr>(values.front()));
  OpBuilder &builder = math.builder;
  auto type = cast<RankedTensorType>(math.shaped(element));
  SmallVector<int64_t> shape(blockCounts);
  if (axis)
    shape = {static_cast<int64_t>(values.size())};
  auto valuesType = RankedTensorType::get(shape, element);
  Value constant = builder.create<stablehlo::ConstantOp>(
      math.location, valuesType, DenseElementsAttr::get(valuesType, values));
  if (!axis)
    return math.of(repeatBlocks(builder, math.location, constant, blockCounts,
                                type));
  if (type.hasStaticShape())
    return math.of(builder.create<stablehlo::BroadcastInDimOp>(
        math.location, type, constant, ArrayRef<int64_t>{*axis}));
  Value sizes = math.shapeValue();
  return math.of(builder.create<stablehlo::DynamicBroadcastInDimOp>(
      math.location, type, constant, sizes,
      builder.getDenseI64ArrayAttr({*axis})));
}

Num Quantization::spreadReals(ElementMath &math, Type element,
                              ArrayRef<double> values) {
  SmallVector<Attribute> attributes;
  for (double value : values)
    attributes.push_back(FloatAttr::get(element, roundTo(value, element)));
  return spread(math, element, attributes);
}

SmallVector<double> toReals(ArrayRef<int64_t> integers) {
  return SmallVector<double>(integers.begin(), integers.end());
}

/// The type to compute integers of `bits` bits in exactly, wide enough for
/// the expressed type.
Type getExactType(Type expressed, unsigned bits) {
  MLIRContext *context = expressed.getContext();
  if (bits > 16 || expressed.isF64())
    return Float64Type::get(context);
  return Float32Type::get(context);
}

/// What stands for x / scale + zero point, once it is rounded.
Value store(ElementMath &math, Num scaled, const Quantization &facts) {
  OpBuilder &builder = math.builder;
  Location location = math.location;
  // Small floats are f32 with a rounding after each step: spare them one.
  if (!scaled.isF64())
    scaled = convert(scaled, builder.getF32Type());
  Value rounded = builder.create<stablehlo::RoundNearestEvenOp>(
      location, scaled.value.getType(), scaled.value);
  Num stored = convert(math.of(rounded), facts.storage);
  unsigned width = facts.getStorageWidth();
  bool isUnsigned = facts.storage.isUnsignedInteger();
  APInt lowest =
      isUnsigned ? APInt::getMinValue(width) : APInt::getSignedMinValue(width);
  APInt highest =
      isUnsigned ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width);
  APInt min = APInt(64, static_cast<uint64_t>(facts.min)).trunc(width);
  APInt max = APInt(64, static_cast<uint64_t>(facts.max)).trunc(width);
  if (min == lowest && max == highest)
    return stored.value;
  auto scalar = RankedTensorType::get({}, facts.storage);
  auto limit = [&](const APInt &number) -> Value {
    return builder.create<stablehlo::ConstantOp>(
        location, scalar,
        DenseElementsAttr::get(scalar, ArrayRef<APInt>(number)));
  };
  Value low = limit(min), high = limit(max);
  return builder.create<stablehlo::ClampOp>(location, stored.value.getType(),
                                            low, stored.value, high);
}
} // namespace

Type alula::input::getStorageType(Type elementType) {
  unsigned width;
  bool isSigned;
  if (auto blocks = dyn_cast<SubChannelQuantizedType>(elementType)) {
    width = blocks.getQuantization().storageType.getIntOrFloatBitWidth();
    isSigned = blocks.getQuantization().isSigned;
  } else if (auto quantized = dyn_cast<quant::QuantizedType>(elementType)) {
    width = quantized.getStorageTypeIntegralWidth();
    isSigned = quantized.isSigned();
  } else {
    return {};
  }
  return IntegerType::get(elementType.getContext(), width,
                          isSigned ? IntegerType::Signless
                                   : IntegerType::Unsigned);
}

Value alula::input::buildDequantize(OpBuilder &builder, Location location,
                                    Value stored, Type quantized) {
  Quantization facts(quantized);
  ElementMath math(builder, location, stored);
  Num difference = math.of(stored);
  if (facts.hasZeroPoints()) {
    Type exact = getExactType(facts.expressed, facts.getStorageWidth());
    difference = convert(difference, exact) -
                 facts.spreadReals(math, exact, toReals(facts.zeroPoints));
  }
  Num scale = facts.spreadReals(math, facts.expressed, facts.scales);
  return (convert(difference, facts.expressed) * scale).value;
}

Value alula::input::buildQuantize(OpBuilder &builder, Location location,
                                  Value real, Type quantized) {
  Quantization facts(quantized);
  ElementMath math(builder, location, real);
  Num scale = facts.spreadReals(math, facts.expressed, facts.scales);
  Num scaled = math.of(real) / scale;
  if (facts.hasZeroPoints())
    scaled = scaled + facts.spreadReals(math, facts.expressed,
                                        toReals(facts.zeroPoints));
  return store(math, scaled, facts);
}

Value alula::input::buildRequantize(OpBuilder &builder, Location location,
                                    Value integers, ArrayRef<double> factors,
                                    std::optional<int64_t> axis,
                                    Type quantized) {
  Quantization facts(quantized);
  ElementMath math(builder, location, integers);
  Type exact = getExactType(facts.expressed, facts.getStorageWidth());
  Quantization spread = facts;
  spread.axis = axis;
  Num scaled = convert(math.of(integers), exact) *
               spread.spreadReals(math, exact, factors);
  if (facts.hasZeroPoints())
    scaled = scaled + facts.spreadReals(math, exact, toReals(facts.zeroPoints));
  return store(math, scaled, facts);
}

Value alula::input::buildScale(OpBuilder &builder, Location location,
                               Value integers, ArrayRef<double> factors,
                               std::optional<int64_t> axis, Type real) {
  ElementMath math(builder, location, integers);
  Quantization spread;
  spread.axis = axis;
  return (convert(math.of(integers), real) *
          spread.spreadReals(math, real, factors))
      .value;
}

Value alula::input::buildStoredZero(OpBuilder &builder, Location location,
                                    Value like, Type quantized) {
  Quantization facts(quantized);
  SmallVector<Attribute> zeros;
  bool areAllZero = true;
  for (int64_t zeroPoint : facts.zeroPoints) {
    // quantize(0): the zero point as the expressed type can say it.
    APFloat rounded =
        roundTo(static_cast<double>(zeroPoint), facts.expressed);
    // Saturates, and makes NaN zero.
    APSInt stored(64, /*isUnsigned=*/false);
    bool isExact;
    rounded.convertToInteger(stored, APFloat::rmTowardZero, &isExact);
    int64_t zero = std::clamp(stored.getSExtValue(), facts.min, facts.max);
    areAllZero &= zero == 0;
    zeros.push_back(builder.getIntegerAttr(facts.storage, zero));
  }
  if (areAllZero)
    return {};
  ElementMath math(builder, location, like);
  return facts.spread(math, facts.storage, zeros).value;
}
