// Products and convolutions of quantized tensors as sums of integers.
//
//   (a - zero point of a) * scale of a · b * scale of b / scale of r + zero
//   point of r  =  (a · b - zero point of a * sums of b) * one factor + …
//
// A zero point of b is subtracted before, where differences are bytes; others
// are left to floats. Sums of b are of what a is multiplied with, which near
// the border of an image is not all of b: where a has a zero point, its
// differences are multiplied if they are bytes, else padding becomes elements.

#include "compiler/input/element_math.h"
#include "compiler/input/lower_quantized.h"

#include "dialect/stablehlo/build.h"
#include "dialect/stablehlo/ops.h"
#include "dialect/stablehlo/type_rules.h"

#include "mlir/Dialect/Quant/QuantTypes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace alula::input;

namespace {
/// None for floats.
SmallVector<double> getScales(Type type) {
  if (isa<FloatType>(type))
    return {1};
  if (auto perAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(type))
    return SmallVector<double>(perAxis.getScales());
  return {cast<quant::UniformQuantizedType>(type).getScale()};
}

std::optional<int64_t> getAxis(Type type) {
  if (auto perAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(type))
    return perAxis.getQuantizedDimension();
  return std::nullopt;
}

/// The dimensions of b that a product sums over.
SmallVector<int64_t> getSummedDims(Operation *op) {
  if (auto dot = dyn_cast<stablehlo::DotGeneralOp>(op))
    return llvm::to_vector(
        dot.getDotDimensionNumbers().getRhsContractingDimensions());
  auto numbers = cast<stablehlo::ConvolutionOp>(op).getDimensionNumbers();
  SmallVector<int64_t> dims(numbers.getKernelSpatialDimensions());
  dims.push_back(numbers.getKernelInputFeatureDimension());
  return dims;
}

/// Where the dimensions of b that are not summed are in the result.
DenseMap<int64_t, int64_t> getResultDims(Operation *op) {
  DenseMap<int64_t, int64_t> dims;
  auto dot = dyn_cast<stablehlo::DotGeneralOp>(op);
  if (!dot) {
    auto numbers = cast<stablehlo::ConvolutionOp>(op).getDimensionNumbers();
    dims[numbers.getKernelOutputFeatureDimension()] =
        numbers.getOutputFeatureDimension();
    return dims;
  }
  auto numbers = dot.getDotDimensionNumbers();
  for (auto [index, dim] : llvm::enumerate(numbers.getRhsBatchingDimensions()))
    dims[dim] = static_cast<int64_t>(index);
  int64_t rank = cast<RankedTensorType>(dot.getRhs().getType()).getRank();
  int64_t next =
      cast<RankedTensorType>(dot.getType()).getRank() - rank +
      static_cast<int64_t>(numbers.getRhsBatchingDimensions().size() +
                           numbers.getRhsContractingDimensions().size());
  for (int64_t dim = 0; dim < rank; ++dim)
    if (!dims.contains(dim) &&
        !llvm::is_contained(numbers.getRhsContractingDimensions(), dim))
      dims[dim] = next++;
  return dims;
}

bool isPadded(stablehlo::ConvolutionOp convolution) {
  auto isOne = [](int64_t dilation) { return dilation == 1; };
  return (convolution.getPadding() &&
          !llvm::all_of(convolution.getPadding()->getValues<int64_t>(),
                        [](int64_t count) { return count == 0; })) ||
         (convolution.getLhsDilation() &&
          !llvm::all_of(*convolution.getLhsDilation(), isOne));
}

/// The one of all elements; nothing if there are several.
std::optional<int64_t> getZeroPoint(Type type) {
  if (auto perAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(type))
    return llvm::all_equal(perAxis.getZeroPoints())
               ? std::optional(perAxis.getZeroPoints().front())
               : std::nullopt;
  return cast<quant::UniformQuantizedType>(type).getZeroPoint();
}

int64_t getMagnitude(quant::QuantizedType type, int64_t zeroPoint) {
  return std::max(std::abs(type.getStorageTypeMin() - zeroPoint),
                  std::abs(type.getStorageTypeMax() - zeroPoint));
}

/// The bytes that hold each difference to the zero point; null if none do.
IntegerType getDifferenceType(quant::QuantizedType type, int64_t zeroPoint) {
  int64_t low = type.getStorageTypeMin() - zeroPoint;
  int64_t high = type.getStorageTypeMax() - zeroPoint;
  if (low >= -128 && high <= 127)
    return IntegerType::get(type.getContext(), 8);
  if (low >= 0 && high <= 255)
    return IntegerType::get(type.getContext(), 8, IntegerType::Unsigned);
  return {};
}

/// The same numbers, a byte each.
Value toBytes(OpBuilder &builder, Location location, Value stored) {
  auto type = cast<RankedTensorType>(stored.getType());
  auto element = cast<IntegerType>(type.getElementType());
  if (element.getWidth() == 8)
    return stored;
  return builder.create<stablehlo::ConvertOp>(
      location,
      type.clone(
          IntegerType::get(builder.getContext(), 8, element.getSignedness())),
      stored);
}

/// Bytes without a zero point.
Value subtractZeroPoint(OpBuilder &builder, Location location, Value stored,
                        int64_t zeroPoint, IntegerType difference) {
  if (zeroPoint == 0)
    return toBytes(builder, location, stored);
  ElementMath math(builder, location, stored);
  Type wide = builder.getI32Type();
  Num number = convert(math.of(stored), wide) -
               math.constant(wide, static_cast<double>(zeroPoint));
  return convert(number, difference).value;
}

/// a with the elements that padding and dilation stand for.
Value pad(OpBuilder &builder, stablehlo::ConvolutionOp convolution, Value bytes,
          int64_t zeroPoint) {
  auto type = cast<RankedTensorType>(bytes.getType());
  auto scalar = RankedTensorType::get({}, type.getElementType());
  Value zero = builder.create<stablehlo::ConstantOp>(
      convolution.getLoc(),
      DenseElementsAttr::get(
          scalar, builder.getIntegerAttr(type.getElementType(), zeroPoint)));
  auto rank = static_cast<size_t>(type.getRank());
  SmallVector<int64_t> low(rank), high(rank), interior(rank);
  auto dims = convolution.getDimensionNumbers().getInputSpatialDimensions();
  for (auto [index, dim] : llvm::enumerate(dims)) {
    auto at = static_cast<size_t>(dim);
    if (auto padding = convolution.getPadding()) {
      low[at] = padding->getValues<int64_t>()[{index, 0}];
      high[at] = padding->getValues<int64_t>()[{index, 1}];
    }
    if (auto dilation = convolution.getLhsDilation())
      interior[at] = (*dilation)[index] - 1;
  }
  return builder.create<stablehlo::PadOp>(
      convolution.getLoc(), bytes, zero, builder.getDenseI64ArrayAttr(low),
      builder.getDenseI64ArrayAttr(high),
      builder.getDenseI64ArrayAttr(interior));
}

/// Sums of b in i32, for each of its other dimensions.
Value sumRight(OpBuilder &builder, Operation *op, Value bytes) {
  Location location = op->getLoc();
  auto type = cast<RankedTensorType>(bytes.getType());
  Value wide = builder.create<stablehlo::ConvertOp>(
      location, type.clone(builder.getI32Type()), bytes);
  return stablehlo::buildSum(builder, location, wide, getSummedDims(op));
}

/// The quantized tensor that floats were before they were moved; `moves` from
/// the floats towards it.
Value findQuantized(Value real, SmallVectorImpl<Operation *> &moves) {
  while (Operation *op = real.getDefiningOp()) {
    if (auto dequantize = dyn_cast<stablehlo::UniformDequantizeOp>(op))
      return dequantize.getOperand();
    if (!isa<stablehlo::TransposeOp, stablehlo::ReshapeOp>(op))
      break;
    moves.push_back(op);
    real = op->getOperand(0);
  }
  return {};
}

/// The element type after a move; null for one that may tear an axis apart.
Type moveElement(Operation *move, Type element) {
  auto perAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(element);
  if (!perAxis)
    return isa<quant::UniformQuantizedType>(element) ? element : Type();
  auto transpose = dyn_cast<stablehlo::TransposeOp>(move);
  if (!transpose)
    return {};
  const auto *place = llvm::find(transpose.getPermutation(),
                                 int64_t(perAxis.getQuantizedDimension()));
  return quant::UniformQuantizedPerAxisType::get(
      perAxis.getFlags(), perAxis.getStorageType(), perAxis.getExpressedType(),
      perAxis.getScales(), perAxis.getZeroPoints(),
      static_cast<int32_t>(place - transpose.getPermutation().begin()),
      perAxis.getStorageTypeMin(), perAxis.getStorageTypeMax());
}

/// What the quantized tensor is after the moves of the floats; null if that
/// has no type.
Value moveQuantized(OpBuilder &builder, Value quantized,
                    ArrayRef<Operation *> moves) {
  SmallVector<Operation *> moved;
  for (Operation *move : llvm::reverse(moves)) {
    Type element =
        moveElement(move, stablehlo::elementType(quantized.getType()));
    if (!element) {
      for (Operation *op : llvm::reverse(moved))
        op->erase();
      return {};
    }
    Operation *op = moved.emplace_back(builder.clone(*move));
    op->setOperand(0, quantized);
    quantized = op->getResult(0);
    quantized.setType(
        cast<RankedTensorType>(quantized.getType()).clone(element));
  }
  return quantized;
}

/// Sums of b as the result has them.
Value spreadSums(ElementMath &math, Operation *op, Value sums) {
  OpBuilder &builder = math.builder;
  DenseMap<int64_t, int64_t> places = getResultDims(op);
  SmallVector<int64_t> dims;
  for (int64_t dim = 0;
       dim < cast<RankedTensorType>(op->getOperand(1).getType()).getRank();
       ++dim)
    if (auto found = places.find(dim); found != places.end())
      dims.push_back(found->second);
  auto type = cast<RankedTensorType>(math.shaped(builder.getI32Type()));
  if (type.hasStaticShape())
    return builder.create<stablehlo::BroadcastInDimOp>(math.location, type,
                                                       sums, dims);
  Value sizes = math.shapeValue();
  return builder.create<stablehlo::DynamicBroadcastInDimOp>(
      math.location, type, sums, sizes, builder.getDenseI64ArrayAttr(dims));
}
} // namespace

bool alula::input::isIntegerProduct(Operation *op) {
  if (!isa<stablehlo::DotGeneralOp, stablehlo::ConvolutionOp>(op))
    return false;
  auto rightType = cast<RankedTensorType>(op->getOperand(1).getType());
  auto left = dyn_cast<quant::UniformQuantizedType>(
      stablehlo::elementType(op->getOperand(0).getType()));
  auto right = dyn_cast<quant::QuantizedType>(rightType.getElementType());
  Type result = stablehlo::elementType(op->getResult(0).getType());
  auto isUniform = [](Type type) {
    return isa<quant::UniformQuantizedType, quant::UniformQuantizedPerAxisType>(
        type);
  };
  bool isReal = result.isF32() || result.isF64();
  if (!left || !right || !isUniform(right) || !(isReal || isUniform(result)) ||
      left.getStorageTypeIntegralWidth() > 8 ||
      right.getStorageTypeIntegralWidth() > 8)
    return false;
  std::optional<int64_t> rightZero = getZeroPoint(right);
  if (!rightZero || !getDifferenceType(right, *rightZero))
    return false;
  // Of small floats each step of the definition rounds by more than a unit.
  for (Type type : {Type(left), Type(right), result})
    if (!stablehlo::expressedType(type).isF32() &&
        !stablehlo::expressedType(type).isF64())
      return false;
  int64_t largest =
      getMagnitude(left, left.getZeroPoint()) * getMagnitude(right, *rightZero);
  for (int64_t dim : getSummedDims(op)) {
    int64_t size = rightType.getDimSize(static_cast<unsigned>(dim));
    if (ShapedType::isDynamic(size) ||
        llvm::MulOverflow(largest, size, largest))
      return false;
  }
  if (largest > std::numeric_limits<int32_t>::max())
    return false;
  // Scales are those of sums, not of their terms, and both axes are the same
  // dimension of the result.
  if (auto axis = getAxis(right); axis && !getResultDims(op).contains(*axis))
    return false;
  if (auto axis = getAxis(right), resultAxis = getAxis(result);
      axis && resultAxis && getResultDims(op).lookup(*axis) != *resultAxis)
    return false;
  auto convolution = dyn_cast<stablehlo::ConvolutionOp>(op);
  IntegerType bytes = getDifferenceType(right, *rightZero);
  return !convolution || !isPadded(convolution) ||
         getDifferenceType(left, left.getZeroPoint()) == bytes ||
         cast<ShapedType>(convolution.getLhs().getType()).hasStaticShape();
}

void alula::input::multiplyQuantized(Operation *op) {
  if (!isa<stablehlo::DotGeneralOp, stablehlo::ConvolutionOp>(op) ||
      !isa<FloatType>(stablehlo::elementType(op->getResult(0).getType())))
    return;
  OpBuilder builder(op);
  SmallVector<Value> reals(op->getOperands()), quantized;
  for (Value real : reals) {
    SmallVector<Operation *> moves;
    Value source = findQuantized(real, moves);
    if (source)
      source = moveQuantized(builder, source, moves);
    if (!source)
      return;
    quantized.push_back(source);
  }
  op->setOperands(quantized);
  if (!isIntegerProduct(op))
    op->setOperands(reals);
}

void alula::input::lowerIntegerProduct(Operation *op, TypeRange operandTypes,
                                       Type resultElement) {
  OpBuilder builder(op);
  auto left = cast<quant::UniformQuantizedType>(
      stablehlo::elementType(operandTypes[0]));
  auto right =
      cast<quant::QuantizedType>(stablehlo::elementType(operandTypes[1]));
  int64_t zeroPoint = left.getZeroPoint(), rightZero = *getZeroPoint(right);
  IntegerType bytes = getDifferenceType(right, rightZero);
  Value a = toBytes(builder, op->getLoc(), op->getOperand(0));
  Value b = subtractZeroPoint(builder, op->getLoc(), op->getOperand(1),
                              rightZero, bytes);

  Operation *product = op->clone();
  if (auto convolution = dyn_cast<stablehlo::ConvolutionOp>(product)) {
    bool padded = isPadded(convolution);
    if (padded && getDifferenceType(left, zeroPoint) == bytes) {
      a = subtractZeroPoint(builder, op->getLoc(), op->getOperand(0), zeroPoint,
                            bytes);
      zeroPoint = 0;
    } else if (stablehlo::elementType(a.getType()) != bytes) {
      // Both sides of a convolution are of one type.
      int64_t shift = bytes.isUnsigned() ? -128 : 128;
      a = subtractZeroPoint(builder, op->getLoc(), a, shift, bytes);
      zeroPoint -= shift;
    }
    if (padded && zeroPoint) {
      a = pad(builder, cast<stablehlo::ConvolutionOp>(op), a, zeroPoint);
      convolution.removePaddingAttr();
      convolution.removeLhsDilationAttr();
    }
  }
  product->setOperands({a, b});
  product->getResult(0).setType(
      cast<RankedTensorType>(op->getResult(0).getType())
          .clone(builder.getI32Type()));
  builder.insert(product);

  ElementMath math(builder, op->getLoc(), product->getResult(0));
  Num sum = math.of(product->getResult(0));
  if (zeroPoint) {
    Value sums = spreadSums(math, op, sumRight(builder, op, b));
    sum = sum - math.of(sums) * math.constant(builder.getI32Type(),
                                              static_cast<double>(zeroPoint));
  }
  SmallVector<double> scales = getScales(right),
                      resultScales = getScales(resultElement);
  std::optional<int64_t> axis = getAxis(resultElement);
  if (auto rightAxis = getAxis(right))
    axis = getResultDims(op).lookup(*rightAxis);
  SmallVector<double> factors(std::max(scales.size(), resultScales.size()));
  for (auto [index, factor] : llvm::enumerate(factors))
    factor = left.getScale() * scales[scales.size() == 1 ? 0 : index] /
             resultScales[resultScales.size() == 1 ? 0 : index];
  Value stored = isa<FloatType>(resultElement)
                     ? buildScale(builder, op->getLoc(), sum.value, factors,
                                  axis, resultElement)
                     : buildRequantize(builder, op->getLoc(), sum.value,
                                       factors, axis, resultElement);
  if (stored.getType() != op->getResult(0).getType())
    stored = builder.create<stablehlo::ConvertOp>(
        op->getLoc(), op->getResult(0).getType(), stored);
  op->getResult(0).replaceAllUsesWith(stored);
  op->erase();
}
