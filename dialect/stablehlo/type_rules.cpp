// Rules about types alone: which are allowed, which go together.

#include "dialect/stablehlo/type_rules.h"

#include "dialect/newer/types.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::stablehlo;
using alula::newer::BridgedFloatType;
using alula::newer::SubChannelQuantizedType;

namespace {
bool isIntWidth(unsigned width) {
  return width == 2 || width == 4 || width == 8 || width == 16 || width == 32 ||
         width == 64;
}

/// Storage, expressed type and the range of storage: what two quantized types
/// must share to be compatible.
struct QuantizedParts {
  Type storage, expressed;
  bool isSigned;
  int64_t min, max;
  bool operator==(const QuantizedParts &) const = default;
};

std::optional<QuantizedParts> getQuantizedParts(Type type) {
  if (auto quantized = dyn_cast<quant::QuantizedType>(type))
    return QuantizedParts{quantized.getStorageType(),
                          quantized.getExpressedType(), quantized.isSigned(),
                          quantized.getStorageTypeMin(),
                          quantized.getStorageTypeMax()};
  if (auto blocks = dyn_cast<SubChannelQuantizedType>(type)) {
    const auto &quantization = blocks.getQuantization();
    return QuantizedParts{quantization.storageType, quantization.expressedType,
                          quantization.isSigned, quantization.storageMin,
                          quantization.storageMax};
  }
  return std::nullopt;
}

bool isSupportedStorage(const QuantizedParts &parts) {
  auto storage = dyn_cast<IntegerType>(parts.storage);
  return storage && isIntWidth(storage.getWidth()) &&
         storage.getWidth() <= 32 && isFloatElement(parts.expressed);
}

/// Zero points are storage values, scales positive numbers of the expressed
/// type. (The type of sub-channels checks its own.)
bool haveSupportedValues(const QuantizedParts &parts, ArrayRef<double> scales,
                         ArrayRef<int64_t> zeroPoints) {
  bool areInRange = llvm::all_of(zeroPoints, [&](int64_t zeroPoint) {
    return parts.min <= zeroPoint && zeroPoint <= parts.max;
  });
  auto expressed = dyn_cast<FloatType>(parts.expressed);
  if (!areInRange || !expressed)
    return false;
  auto toDouble = [](APFloat value) {
    bool losesInfo;
    value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                  &losesInfo);
    return value.convertToDouble();
  };
  const llvm::fltSemantics &semantics = expressed.getFloatSemantics();
  double smallest = toDouble(APFloat::getSmallest(semantics));
  double largest = toDouble(APFloat::getLargest(semantics));
  return llvm::all_of(scales, [&](double scale) {
    return smallest <= scale && scale <= largest;
  });
}
} // namespace

bool stablehlo::isSignedIntElement(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  return integer && integer.isSignless() && isIntWidth(integer.getWidth());
}

bool stablehlo::isUnsignedIntElement(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  return integer && integer.isUnsigned() && isIntWidth(integer.getWidth());
}

bool stablehlo::isFloatElement(Type type) {
  return isa<Float8E4M3Type, Float8E4M3FNType, Float8E4M3FNUZType,
             Float8E4M3B11FNUZType, Float8E5M2Type, Float8E5M2FNUZType,
             BFloat16Type, Float16Type, Float32Type, Float64Type,
             BridgedFloatType>(type);
}

bool stablehlo::isComplexElement(Type type) {
  auto complex = dyn_cast<ComplexType>(type);
  return complex && isa<Float32Type, Float64Type>(complex.getElementType());
}

bool stablehlo::isPerTensorQuantizedElement(Type type) {
  auto quantized = dyn_cast<quant::UniformQuantizedType>(type);
  if (!quantized)
    return false;
  QuantizedParts parts = *getQuantizedParts(type);
  return isSupportedStorage(parts) &&
         haveSupportedValues(parts, quantized.getScale(),
                             quantized.getZeroPoint());
}

bool stablehlo::isPerAxisQuantizedElement(Type type) {
  if (isa<SubChannelQuantizedType>(type))
    return isSupportedStorage(*getQuantizedParts(type));
  auto perAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(type);
  if (!perAxis)
    return false;
  QuantizedParts parts = *getQuantizedParts(type);
  return isSupportedStorage(parts) &&
         haveSupportedValues(parts, perAxis.getScales(),
                             perAxis.getZeroPoints());
}

bool stablehlo::isQuantizedElement(Type type) {
  return isPerTensorQuantizedElement(type) || isPerAxisQuantizedElement(type);
}

bool stablehlo::hasValidQuantizedAxis(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !shaped.hasRank())
    return true;
  if (auto perAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(
          shaped.getElementType())) {
    int64_t axis = perAxis.getQuantizedDimension();
    if (axis < 0 || axis >= shaped.getRank())
      return false;
    int64_t size = shaped.getDimSize(axis);
    return ShapedType::isDynamic(size) ||
           size == static_cast<int64_t>(perAxis.getScales().size());
  }
  auto blocks = dyn_cast<SubChannelQuantizedType>(shaped.getElementType());
  if (!blocks)
    return true;
  const auto &quantization = blocks.getQuantization();
  ArrayRef<int64_t> counts = quantization.scales.getType().getShape();
  if (static_cast<int64_t>(counts.size()) != shaped.getRank())
    return false;
  SmallVector<int64_t> blockSizes(shaped.getShape());
  for (auto [axis, size] : llvm::zip_equal(quantization.quantizedDimensions,
                                           quantization.blockSizes)) {
    if (axis < 0 || axis >= shaped.getRank())
      return false;
    blockSizes[axis] = size;
  }
  // A block of size 0 spans its whole dimension.
  for (auto [size, block, count] :
       llvm::zip_equal(shaped.getShape(), blockSizes, counts)) {
    if (ShapedType::isDynamic(size) || ShapedType::isDynamic(block))
      continue;
    if (block <= 0 ? count != 1 : (size % block != 0 || size / block != count))
      return false;
  }
  return true;
}

bool stablehlo::isToken(Type type) { return isa<TokenType>(type); }
bool stablehlo::isFuture(Type type) { return isa<FutureType>(type); }

bool stablehlo::isStaticOrBounded(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return false;
  if (tensor.hasStaticShape())
    return true;
  auto isKnown = [](int64_t bound) { return !ShapedType::isDynamic(bound); };
  return tensor.getNumDynamicDims() == 1 &&
         llvm::any_of(getBounds(tensor), isKnown);
}

Type stablehlo::elementType(Type type) { return getElementTypeOrSelf(type); }

unsigned stablehlo::elementBits(Type type) {
  if (auto parts = getQuantizedParts(type))
    return elementBits(parts->storage);
  if (auto complex = dyn_cast<ComplexType>(type))
    return 2 * elementBits(complex.getElementType());
  if (auto bridged = dyn_cast<BridgedFloatType>(type))
    return bridged.getWidth();
  return type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 0;
}

Type stablehlo::expressedType(Type type) {
  auto parts = getQuantizedParts(type);
  return parts ? parts->expressed : type;
}

ArrayRef<int64_t> stablehlo::getBounds(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return {};
  auto extensions = dyn_cast_or_null<TypeExtensionsAttr>(tensor.getEncoding());
  return extensions ? extensions.getBounds() : ArrayRef<int64_t>();
}

RankedTensorType stablehlo::getTensorType(ArrayRef<int64_t> shape,
                                          Type elementType,
                                          ArrayRef<int64_t> bounds) {
  bool hasBound = llvm::any_of(
      bounds, [](int64_t bound) { return !ShapedType::isDynamic(bound); });
  Attribute encoding;
  if (hasBound)
    encoding = TypeExtensionsAttr::get(elementType.getContext(), bounds);
  return RankedTensorType::get(shape, elementType, encoding);
}

bool stablehlo::areCompatibleShapes(Type a, Type b) {
  auto shapedA = dyn_cast<ShapedType>(a), shapedB = dyn_cast<ShapedType>(b);
  if (!shapedA || !shapedB)
    return static_cast<bool>(shapedA) == static_cast<bool>(shapedB);
  if (!shapedA.hasRank() || !shapedB.hasRank())
    return true;
  if (shapedA.getRank() != shapedB.getRank())
    return false;
  // No size of one may exceed the bound of the other.
  auto fits = [](int64_t size, ArrayRef<int64_t> bounds, size_t index) {
    return ShapedType::isDynamic(size) || index >= bounds.size() ||
           ShapedType::isDynamic(bounds[index]) || size <= bounds[index];
  };
  ArrayRef<int64_t> boundsA = getBounds(a), boundsB = getBounds(b);
  for (auto [index, sizeA, sizeB] :
       llvm::enumerate(shapedA.getShape(), shapedB.getShape())) {
    bool differ = !ShapedType::isDynamic(sizeA) &&
                  !ShapedType::isDynamic(sizeB) && sizeA != sizeB;
    if (differ || !fits(sizeA, boundsB, index) || !fits(sizeB, boundsA, index))
      return false;
  }
  return true;
}

bool stablehlo::areCompatibleElementTypes(Type a, Type b) {
  if (a == b)
    return true;
  auto partsA = getQuantizedParts(a), partsB = getQuantizedParts(b);
  return partsA && partsB && *partsA == *partsB;
}

bool stablehlo::areCompatibleTypes(Type a, Type b) {
  if (a == b)
    return true;
  if (auto tupleA = dyn_cast<TupleType>(a)) {
    auto tupleB = dyn_cast<TupleType>(b);
    return tupleB && areCompatibleTypes(TypeRange(tupleA.getTypes()),
                                        TypeRange(tupleB.getTypes()));
  }
  auto shapedA = dyn_cast<ShapedType>(a), shapedB = dyn_cast<ShapedType>(b);
  if (!shapedA || !shapedB || isa<MemRefType>(a) != isa<MemRefType>(b))
    return false;
  return areCompatibleShapes(a, b) &&
         areCompatibleElementTypes(shapedA.getElementType(),
                                   shapedB.getElementType());
}

bool stablehlo::areCompatibleTypes(TypeRange a, TypeRange b) {
  return a.size() == b.size() && llvm::all_of(llvm::zip(a, b), [](auto pair) {
           return areCompatibleTypes(std::get<0>(pair), std::get<1>(pair));
         });
}

Type stablehlo::mergeTypes(Type a, Type b) {
  if (a == b)
    return a;
  if (!areCompatibleTypes(a, b))
    return {};
  auto tensorA = dyn_cast<RankedTensorType>(a);
  auto tensorB = dyn_cast<RankedTensorType>(b);
  if (!tensorA || !tensorB)
    return tensorB ? b : a;
  SmallVector<int64_t> shape, bounds;
  ArrayRef<int64_t> boundsA = getBounds(a), boundsB = getBounds(b);
  auto boundAt = [](ArrayRef<int64_t> bounds, size_t index) {
    return index < bounds.size() ? bounds[index] : ShapedType::kDynamic;
  };
  for (auto [index, sizeA, sizeB] :
       llvm::enumerate(tensorA.getShape(), tensorB.getShape())) {
    int64_t size = ShapedType::isDynamic(sizeA) ? sizeB : sizeA;
    int64_t boundA = boundAt(boundsA, index), boundB = boundAt(boundsB, index);
    int64_t bound = ShapedType::isDynamic(boundA)   ? boundB
                    : ShapedType::isDynamic(boundB) ? boundA
                                                    : std::min(boundA, boundB);
    shape.push_back(size);
    bounds.push_back(ShapedType::isDynamic(size) ? bound
                                                 : ShapedType::kDynamic);
  }
  return getTensorType(shape, tensorA.getElementType(), bounds);
}
