// Inference and rules of ops that make values or move them, where attributes
// say all about the shape of the result.

#include "dialect/stablehlo/dimension_rules.h"
#include "dialect/stablehlo/movement_rules.h"
#include "dialect/stablehlo/ops.h"
#include "dialect/stablehlo/quantized_rules.h"
#include "dialect/stablehlo/shape_math.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::stablehlo;

namespace {
/// The value of a dimension attribute, with a message if it is none of `type`.
FailureOr<int64_t> readDimension(const RuleSite &site, StringRef name,
                                 IntegerAttr attribute, RankedTensorType type) {
  std::optional<int64_t> dim = readInteger(attribute);
  if (!dim)
    return site.fail(name, " must be given: is not");
  if (failed(verifyInRange(site, name, *dim, type.getRank())))
    return failure();
  return *dim;
}
} // namespace

//===----------------------------------------------------------------------===//
// New values
//===----------------------------------------------------------------------===//

LogicalResult
ConstantOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                             ValueRange operands, DictionaryAttr attributes,
                             OpaqueProperties properties, RegionRange,
                             SmallVectorImpl<Type> &inferred) {
  Adaptor adaptor(operands, attributes, properties);
  if (!adaptor.getValueAttr())
    return inferError(location, getOperationName(),
                      "value must be given: is not");
  inferred.push_back(adaptor.getValue().getType());
  return success();
}

bool ConstantOp::isCompatibleReturnTypes(TypeRange l, TypeRange r) {
  if (l.size() != 1 || r.size() != 1)
    return false;
  auto value = dyn_cast<RankedTensorType>(l.front());
  auto output = dyn_cast<RankedTensorType>(r.front());
  if (!value || !output || value.getShape() != output.getShape())
    return false;
  Type stored = output.getElementType();
  if (auto quantized = dyn_cast<quant::QuantizedType>(stored))
    stored = quantized.getStorageType();
  else if (auto blocks =
               dyn_cast<alula::newer::SubChannelQuantizedType>(stored))
    stored = blocks.getQuantization().storageType;
  return value.getElementType() == stored;
}

LogicalResult IotaOp::verify() {
  return verifyInRange(RuleSite(*this), "iota_dimension",
                       static_cast<int64_t>(getIotaDimension()),
                       getType().getRank());
}

//===----------------------------------------------------------------------===//
// Copies of elements
//===----------------------------------------------------------------------===//

LogicalResult
BroadcastOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                              ValueRange operands, DictionaryAttr attributes,
                              OpaqueProperties properties, RegionRange,
                              SmallVectorImpl<Type> &inferred) {
  RuleSite site(location, getOperationName());
  Adaptor adaptor(operands, attributes, properties);
  RankedTensorType operand = tensorOperand(site, operands, 0);
  if (!operand)
    return failure();
  if (!adaptor.getBroadcastSizesAttr())
    return site.fail("broadcast_sizes must be given: are not");
  ShapeBuilder shape;
  for (auto [index, size] : llvm::enumerate(adaptor.getBroadcastSizes())) {
    if (size < 0)
      return site.fail("broadcast_sizes must not be negative: is ", size,
                       " at ", index);
    shape.add(size);
  }
  for (int64_t dim = 0; dim < operand.getRank(); ++dim)
    shape.addDim(operand, dim);
  inferred.push_back(shape.get(operand.getElementType()));
  return success();
}

LogicalResult BroadcastInDimOp::verify() {
  return verifyBroadcast(RuleSite(*this), getOperand().getType(),
                         getBroadcastDimensions(), getType(),
                         /*resultIsKnown=*/true);
}

LogicalResult
ConcatenateOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                ValueRange operands, DictionaryAttr attributes,
                                OpaqueProperties properties, RegionRange,
                                SmallVectorImpl<Type> &inferred) {
  RuleSite site(location, getOperationName());
  Adaptor adaptor(operands, attributes, properties);
  RankedTensorType first = tensorOperand(site, operands, 0);
  if (!first)
    return failure();
  FailureOr<int64_t> dim =
      readDimension(site, "dimension", adaptor.getDimensionAttr(), first);
  if (failed(dim))
    return failure();

  // Along the dimension sizes add up, and so do bounds; elsewhere all operands
  // tell about one size.
  SmallVector<Type> others;
  std::optional<int64_t> size = 0, bound = 0;
  for (size_t index = 0; index < operands.size(); ++index) {
    RankedTensorType operand = tensorOperand(site, operands, index);
    if (!operand)
      return failure();
    if (operand.getRank() != first.getRank())
      return site.fail("operands must have one rank: operand 0 is ", first,
                       ", operand ", index, " is ", operand);
    ShapeBuilder other(operand);
    other.set(*dim, 0);
    others.push_back(other.get(first.getElementType()));
    if (!areCompatibleShapes(others.front(), others.back()))
      return site.fail("sizes must agree but in dimension ", *dim,
                       ": operand 0 is ", first, ", operand ", index, " is ",
                       operand);
    int64_t next = operand.getDimSize(*dim);
    int64_t most = ShapedType::isDynamic(next) ? boundOf(operand, *dim) : next;
    auto add = [](std::optional<int64_t> sum, int64_t value) {
      bool isUnknown =
          sum && (ShapedType::isDynamic(*sum) || ShapedType::isDynamic(value));
      if (isUnknown)
        return std::optional(ShapedType::kDynamic);
      return sum ? addSizes(*sum, value) : sum;
    };
    size = add(size, next);
    bound = add(bound, most);
  }
  if (!size || !bound)
    return site.fail("size of the result must fit 64 bits: the sum in "
                     "dimension ",
                     *dim, " does not");
  RankedTensorType merged = mergeShapes(others);
  if (!merged)
    return site.fail("sizes must agree but in dimension ", *dim,
                     ": operands are ", operands.getTypes());
  ShapeBuilder shape(merged);
  shape.set(*dim, *size,
            ShapedType::isDynamic(*size) ? *bound : ShapedType::kDynamic);
  inferred.push_back(shape.get(first.getElementType()));
  return success();
}

LogicalResult PadOp::inferReturnTypes(MLIRContext *,
                                      std::optional<Location> location,
                                      ValueRange operands,
                                      DictionaryAttr attributes,
                                      OpaqueProperties properties, RegionRange,
                                      SmallVectorImpl<Type> &inferred) {
  RuleSite site(location, getOperationName());
  Adaptor adaptor(operands, attributes, properties);
  RankedTensorType operand = tensorOperand(site, operands, 0);
  if (!operand)
    return failure();
  if (!adaptor.getEdgePaddingLowAttr() || !adaptor.getEdgePaddingHighAttr() ||
      !adaptor.getInteriorPaddingAttr())
    return site.fail("paddings must be given: are not");
  ArrayRef<int64_t> low = adaptor.getEdgePaddingLow();
  ArrayRef<int64_t> high = adaptor.getEdgePaddingHigh();
  ArrayRef<int64_t> interior = adaptor.getInteriorPadding();
  size_t rank = operand.getRank();
  if (low.size() != rank || high.size() != rank || interior.size() != rank)
    return site.fail("paddings must have an entry for each dimension of the "
                     "operand: low has ",
                     low.size(), ", high has ", high.size(), ", interior has ",
                     interior.size(), ", operand is ", operand);
  ShapeBuilder shape;
  for (size_t dim = 0; dim < rank; ++dim) {
    if (interior[dim] < 0)
      return site.fail("interior_padding must not be negative: is ",
                       interior[dim], " in dimension ", dim);
    int64_t size = operand.getDimSize(dim);
    bool isDynamic = ShapedType::isDynamic(size);
    int64_t most = isDynamic ? boundOf(operand, dim) : size;
    if (ShapedType::isDynamic(most)) {
      shape.add(ShapedType::kDynamic);
      continue;
    }
    std::optional<int64_t> padded =
        padSize(most, low[dim], high[dim], interior[dim]);
    if (!padded)
      return site.fail("padded size must fit 64 bits: dimension ", dim,
                       " does not");
    if (*padded < 0)
      return site.fail("padded size must not be negative: is ", *padded,
                       " in dimension ", dim);
    if (isDynamic)
      shape.add(ShapedType::kDynamic, *padded);
    else
      shape.add(*padded);
  }
  inferred.push_back(shape.get(operand.getElementType()));
  return success();
}

//===----------------------------------------------------------------------===//
// The same elements
//===----------------------------------------------------------------------===//

LogicalResult BitcastConvertOp::verify() {
  RuleSite site(*this);
  RankedTensorType operand = getOperand().getType(), result = getType();
  Type from = operand.getElementType(), to = result.getElementType();
  if (isComplexElement(from) != isComplexElement(to))
    return site.fail("operand and result must both be complex or neither: "
                     "operand is ",
                     operand, ", result is ", result);
  int64_t fromBits = elementBits(from), toBits = elementBits(to);
  // The side with the smaller elements has one more dimension, whose elements
  // together make one of the other side.
  bool grows = toBits > fromBits;
  RankedTensorType small = grows ? operand : result;
  RankedTensorType large = grows ? result : operand;
  int64_t parts = fromBits == toBits ? 1
                  : grows            ? toBits / fromBits
                                     : fromBits / toBits;
  ArrayRef<int64_t> smallShape = small.getShape();
  if (fromBits != toBits) {
    if (parts * std::min(fromBits, toBits) != std::max(fromBits, toBits))
      return site.fail("element widths must divide: operand has ", fromBits,
                       " bits, result has ", toBits);
    if (smallShape.size() != large.getShape().size() + 1)
      return site.fail("the side of smaller elements must have one more "
                       "dimension: operand is ",
                       operand, ", result is ", result);
    if (!agree(smallShape.back(), parts))
      return site.fail("last dimension of the smaller elements must be ", parts,
                       ": operand is ", operand, ", result is ", result);
    smallShape = smallShape.drop_back();
  }
  auto sizesAgree = [](auto pair) {
    return agree(std::get<0>(pair), std::get<1>(pair));
  };
  if (smallShape.size() != large.getShape().size() ||
      !llvm::all_of(llvm::zip(smallShape, large.getShape()), sizesAgree))
    return site.fail("shapes must be equal but for the last dimension of the "
                     "smaller elements: operand is ",
                     operand, ", result is ", result);
  return success();
}

LogicalResult ReshapeOp::verify() {
  return verifyReshape(RuleSite(*this), getOperand().getType(), getType());
}

LogicalResult ReverseOp::verify() {
  RuleSite site(*this);
  NamedDims list{"dimensions", getDimensions()};
  if (failed(verifyInRange(site, list, getType().getRank())))
    return failure();
  return verifyUnique(site, list);
}

LogicalResult
TransposeOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                              ValueRange operands, DictionaryAttr attributes,
                              OpaqueProperties properties, RegionRange,
                              SmallVectorImpl<Type> &inferred) {
  RuleSite site(location, getOperationName());
  Adaptor adaptor(operands, attributes, properties);
  RankedTensorType operand = tensorOperand(site, operands, 0);
  if (!operand)
    return failure();
  if (!adaptor.getPermutationAttr())
    return site.fail("permutation must be given: is not");
  ArrayRef<int64_t> permutation = adaptor.getPermutation();
  if (static_cast<int64_t>(permutation.size()) != operand.getRank())
    return site.fail("permutation must have an entry for each dimension: has ",
                     permutation.size(), ", operand is ", operand);
  NamedDims list{"permutation", permutation};
  if (failed(verifyInRange(site, list, operand.getRank())) ||
      failed(verifyUnique(site, list)))
    return failure();
  ShapeBuilder shape;
  for (int64_t dim : permutation)
    shape.addDim(operand, dim);
  inferred.push_back(shape.get(operand.getElementType()));
  return success();
}

LogicalResult TransposeOp::verify() {
  RuleSite site(*this);
  Type operand = getOperand().getType(), result = getType();
  if (failed(verifyKeptElementType(site, operand, result)))
    return failure();
  std::optional<int64_t> from = quantizedDimension(elementType(operand));
  std::optional<int64_t> to = quantizedDimension(elementType(result));
  if (!from || !to || *from == getPermutation()[*to])
    return success();
  return site.fail("quantization dimension must move with its dimension: "
                   "operand has ",
                   *from, ", result has ", *to, " which was ",
                   getPermutation()[*to]);
}

//===----------------------------------------------------------------------===//
// Sizes as values
//===----------------------------------------------------------------------===//

LogicalResult GetDimensionSizeOp::inferReturnTypes(
    MLIRContext *context, std::optional<Location> location, ValueRange operands,
    DictionaryAttr attributes, OpaqueProperties properties, RegionRange,
    SmallVectorImpl<Type> &inferred) {
  RuleSite site(location, getOperationName());
  Adaptor adaptor(operands, attributes, properties);
  RankedTensorType operand = tensorOperand(site, operands, 0);
  if (!operand || failed(readDimension(site, "dimension",
                                       adaptor.getDimensionAttr(), operand)))
    return failure();
  inferred.push_back(RankedTensorType::get({}, IntegerType::get(context, 32)));
  return success();
}

OpFoldResult GetDimensionSizeOp::fold(FoldAdaptor) {
  // Folding may come before verification.
  RankedTensorType operand = getOperand().getType();
  if (getDimension() >= static_cast<uint64_t>(operand.getRank()))
    return {};
  int64_t size = operand.getDimSize(getDimension());
  if (ShapedType::isDynamic(size) || !llvm::isInt<32>(size))
    return {};
  return DenseElementsAttr::get(getType(), static_cast<int32_t>(size));
}

LogicalResult SetDimensionSizeOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, ValueRange operands,
    DictionaryAttr attributes, OpaqueProperties properties, RegionRange,
    SmallVectorImpl<Type> &inferred) {
  RuleSite site(location, getOperationName());
  Adaptor adaptor(operands, attributes, properties);
  RankedTensorType operand = tensorOperand(site, operands, 0);
  RankedTensorType size = tensorOperand(site, operands, 1);
  if (!operand || !size)
    return failure();
  if (size.getRank() != 0)
    return site.fail("size must be a scalar: is ", size);
  FailureOr<int64_t> dim =
      readDimension(site, "dimension", adaptor.getDimensionAttr(), operand);
  if (failed(dim))
    return failure();
  int64_t bound = operand.isDynamicDim(*dim) ? boundOf(operand, *dim)
                                             : operand.getDimSize(*dim);
  ShapeBuilder shape(operand);
  shape.set(*dim, ShapedType::kDynamic, bound);
  // Set to the most it can be, the size is known again.
  std::optional<SmallVector<int64_t>> constant = readConstant(operands[1]);
  if (constant && constant->size() == 1 && constant->front() == bound)
    shape.set(*dim, bound);
  inferred.push_back(shape.get(operand.getElementType()));
  return success();
}
