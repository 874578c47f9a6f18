// Inference and rules of the ops that work on each element by itself.

#include "dialect/stablehlo/dimension_rules.h"
#include "dialect/stablehlo/ops.h"
#include "dialect/stablehlo/quantized_rules.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::stablehlo;

namespace {
/// The tensor types of all operands; a message if there are not `count`.
FailureOr<SmallVector<RankedTensorType>>
getTensors(const RuleSite &site, ValueRange operands, size_t count) {
  if (operands.size() != count)
    return site.fail("needs ", count, count == 1 ? " operand" : " operands",
                     ": has ", operands.size());
  SmallVector<RankedTensorType> types;
  for (auto [index, operand] : llvm::enumerate(operands)) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    if (!type)
      return site.fail("operands must be ranked tensors: operand ", index,
                       " is ", operand.getType());
    types.push_back(type);
  }
  return types;
}

/// Infers the shape of the only operand with the element type that
/// `getElement` makes of the operand's.
LogicalResult inferUnary(const RuleSite &site, ValueRange operands,
                         function_ref<Type(Type)> getElement,
                         SmallVectorImpl<Type> &inferred) {
  auto types = getTensors(site, operands, 1);
  if (failed(types))
    return failure();
  RankedTensorType operand = types->front();
  Type element = getElement(operand.getElementType());
  inferred.push_back(
      getTensorType(operand.getShape(), element, getBounds(operand)));
  return success();
}

/// The same of two operands of compatible shape; null stands for an element
/// type that it can't take.
LogicalResult inferBinary(const RuleSite &site, ValueRange operands,
                          function_ref<Type(Type)> getElement,
                          SmallVectorImpl<Type> &inferred) {
  auto types = getTensors(site, operands, 2);
  if (failed(types))
    return failure();
  RankedTensorType lhs = (*types)[0], rhs = (*types)[1];
  RankedTensorType merged = mergeShapes({lhs, rhs});
  if (!merged)
    return site.fail("shapes must be compatible: operand 0 is ", lhs,
                     ", operand 1 is ", rhs);
  Type element = getElement(lhs.getElementType());
  if (!element)
    return site.fail("operands have no such element type: operand 0 is ", lhs);
  inferred.push_back(
      getTensorType(merged.getShape(), element, getBounds(merged)));
  return success();
}

Type partOfComplex(Type element) {
  auto complex = dyn_cast<ComplexType>(element);
  return complex ? complex.getElementType() : element;
}

Type toI1(Type element) { return IntegerType::get(element.getContext(), 1); }
} // namespace

//===----------------------------------------------------------------------===//
// One operand
//===----------------------------------------------------------------------===//

LogicalResult AbsOp::inferReturnTypes(MLIRContext *,
                                      std::optional<Location> location,
                                      ValueRange operands, DictionaryAttr,
                                      OpaqueProperties, RegionRange,
                                      SmallVectorImpl<Type> &inferred) {
  return inferUnary({location, getOperationName()}, operands, partOfComplex,
                    inferred);
}

LogicalResult ImagOp::inferReturnTypes(MLIRContext *,
                                       std::optional<Location> location,
                                       ValueRange operands, DictionaryAttr,
                                       OpaqueProperties, RegionRange,
                                       SmallVectorImpl<Type> &inferred) {
  return inferUnary({location, getOperationName()}, operands, partOfComplex,
                    inferred);
}

LogicalResult RealOp::inferReturnTypes(MLIRContext *,
                                       std::optional<Location> location,
                                       ValueRange operands, DictionaryAttr,
                                       OpaqueProperties, RegionRange,
                                       SmallVectorImpl<Type> &inferred) {
  return inferUnary({location, getOperationName()}, operands, partOfComplex,
                    inferred);
}

LogicalResult IsFiniteOp::inferReturnTypes(MLIRContext *,
                                           std::optional<Location> location,
                                           ValueRange operands, DictionaryAttr,
                                           OpaqueProperties, RegionRange,
                                           SmallVectorImpl<Type> &inferred) {
  return inferUnary({location, getOperationName()}, operands, toI1, inferred);
}

void ConvertOp::build(OpBuilder &builder, OperationState &state, Value operand,
                      Type resultElementType) {
  auto type = cast<RankedTensorType>(operand.getType());
  build(builder, state, type.clone(resultElementType), operand);
}

OpFoldResult ConvertOp::fold(FoldAdaptor) {
  if (getOperand().getType() == getResult().getType())
    return getOperand();
  return {};
}

LogicalResult ReducePrecisionOp::verify() {
  int32_t exponentBits = static_cast<int32_t>(getExponentBits());
  int32_t mantissaBits = static_cast<int32_t>(getMantissaBits());
  if (exponentBits < 1)
    return opError(*this) << "exponent_bits must be positive: is "
                          << exponentBits;
  if (mantissaBits < 0)
    return opError(*this) << "mantissa_bits must not be negative: is "
                          << mantissaBits;
  return success();
}

//===----------------------------------------------------------------------===//
// Two operands
//===----------------------------------------------------------------------===//

LogicalResult AddOp::verify() {
  Type lhs = elementType(getLhs().getType());
  Type rhs = elementType(getRhs().getType());
  Type result = elementType(getType());
  std::optional<int64_t> resultDimension = quantizedDimension(result);
  std::optional<int64_t> lhsDimension = quantizedDimension(lhs);
  std::optional<int64_t> rhsDimension = quantizedDimension(rhs);
  if ((lhsDimension || rhsDimension) != resultDimension.has_value())
    return opError(*this)
           << "result must be quantized per axis if and only if an operand is: "
              "lhs is "
           << lhs << ", rhs is " << rhs << ", result is " << result;
  if ((lhsDimension && lhsDimension != resultDimension) ||
      (rhsDimension && rhsDimension != resultDimension))
    return opError(*this) << "quantization dimensions must be equal: lhs is "
                          << lhs << ", rhs is " << rhs << ", result is "
                          << result;
  return success();
}

LogicalResult ComplexOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location> location,
                                          ValueRange operands, DictionaryAttr,
                                          OpaqueProperties, RegionRange,
                                          SmallVectorImpl<Type> &inferred) {
  auto toComplex = [](Type element) -> Type {
    return isa<FloatType>(element) ? ComplexType::get(element) : Type();
  };
  return inferBinary({location, getOperationName()}, operands, toComplex,
                     inferred);
}

LogicalResult CompareOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location> location,
                                          ValueRange operands, DictionaryAttr,
                                          OpaqueProperties, RegionRange,
                                          SmallVectorImpl<Type> &inferred) {
  return inferBinary({location, getOperationName()}, operands, toI1, inferred);
}

void CompareOp::build(OpBuilder &builder, OperationState &state, Value lhs,
                      Value rhs, ComparisonDirection direction,
                      ComparisonType type) {
  MLIRContext *context = builder.getContext();
  auto typeAttr = type == ComparisonType::NOTYPE
                      ? ComparisonTypeAttr()
                      : ComparisonTypeAttr::get(context, type);
  build(builder, state, lhs, rhs,
        ComparisonDirectionAttr::get(context, direction), typeAttr);
}

// Which type of comparison goes with which element type is not checked: front
// ends write SIGNED for i1 and the like, nobody else's verifier minds, and the
// element type says what is meant. Only an order that does not exist is wrong.
LogicalResult CompareOp::verify() {
  Type element = elementType(getLhs().getType());
  if (getCompareType() != ComparisonType::TOTALORDER ||
      !isComplexElement(element))
    return success();
  return opError(*this) << "compare_type TOTALORDER needs real numbers: "
                           "operands are "
                        << getLhs().getType();
}

//===----------------------------------------------------------------------===//
// Three operands
//===----------------------------------------------------------------------===//

LogicalResult ClampOp::inferReturnTypes(MLIRContext *,
                                        std::optional<Location> location,
                                        ValueRange operands, DictionaryAttr,
                                        OpaqueProperties, RegionRange,
                                        SmallVectorImpl<Type> &inferred) {
  RuleSite site(location, getOperationName());
  auto types = getTensors(site, operands, 3);
  if (failed(types))
    return failure();
  RankedTensorType operand = (*types)[1];
  for (auto [name, limit] :
       {std::pair("min", (*types)[0]), std::pair("max", (*types)[2])})
    if (limit.getRank() != 0 && !areCompatibleShapes(limit, operand))
      return site.fail(name,
                       " must be a scalar or have the operand's shape: ", name,
                       " is ", limit, ", operand is ", operand);
  inferred.push_back(operand);
  return success();
}

LogicalResult SelectOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> location,
                                         ValueRange operands, DictionaryAttr,
                                         OpaqueProperties, RegionRange,
                                         SmallVectorImpl<Type> &inferred) {
  RuleSite site(location, getOperationName());
  auto types = getTensors(site, operands, 3);
  if (failed(types))
    return failure();
  RankedTensorType pred = (*types)[0];
  Type merged = mergeTypes((*types)[1], (*types)[2]);
  if (!merged)
    return site.fail("on_true and on_false must have compatible types: "
                     "on_true is ",
                     (*types)[1], ", on_false is ", (*types)[2]);
  if (pred.getRank() != 0 && !areCompatibleShapes(pred, (*types)[1]))
    return site.fail("pred must be a scalar or have the shape of on_true: pred "
                     "is ",
                     pred, ", on_true is ", (*types)[1]);
  inferred.push_back(merged);
  return success();
}

//===----------------------------------------------------------------------===//
// Any number of operands
//===----------------------------------------------------------------------===//

namespace {
/// The element type that a map's region returns, null after a message.
Type verifyMapComputation(const RuleSite &site, ValueRange inputs,
                          RegionRange regions) {
  if (regions.size() != 1 || regions.front()->empty() ||
      regions.front()->front().empty()) {
    (void)site.fail("computation must have a block with a terminator: has "
                    "none");
    return {};
  }
  Block &block = regions.front()->front();
  if (block.getNumArguments() != inputs.size()) {
    (void)site.fail("computation must take a scalar of each input: takes ",
                    block.getNumArguments(), " for ", inputs.size(), " inputs");
    return {};
  }
  for (auto [index, input, argument] :
       llvm::enumerate(inputs, block.getArguments())) {
    Type expected = RankedTensorType::get({}, elementType(input.getType()));
    if (argument.getType() == expected)
      continue;
    (void)site.fail("computation must take a scalar of each input: argument ",
                    index, " must be ", expected, ", is ", argument.getType());
    return {};
  }
  Operation &terminator = block.back();
  auto result =
      terminator.getNumOperands() == 1
          ? dyn_cast<RankedTensorType>(terminator.getOperand(0).getType())
          : RankedTensorType();
  if (!result || result.getRank() != 0) {
    (void)site.fail("computation must return one scalar: returns ",
                    terminator.getOperandTypes());
    return {};
  }
  return result.getElementType();
}
} // namespace

LogicalResult
MapOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                        ValueRange operands, DictionaryAttr attributes,
                        OpaqueProperties properties, RegionRange regions,
                        SmallVectorImpl<Type> &inferred) {
  RuleSite site(location, getOperationName());
  Adaptor adaptor(operands, attributes, properties, regions);
  if (operands.empty())
    return site.fail("needs an input: has none");
  auto types = getTensors(site, operands, operands.size());
  if (failed(types))
    return failure();
  SmallVector<Type> inputs(types->begin(), types->end());
  RankedTensorType merged = mergeShapes(inputs);
  if (!merged)
    return site.fail("shapes of the inputs must be compatible: are ",
                     ArrayRef<Type>(inputs));
  if (!adaptor.getDimensionsAttr())
    return site.fail("dimensions must be given: are not");
  ArrayRef<int64_t> dimensions = adaptor.getDimensions();
  auto expected = llvm::seq<int64_t>(0, merged.getRank());
  if (!llvm::equal(dimensions, expected))
    return site.fail("dimensions must be those of the inputs in order: are ",
                     shapeText(dimensions), " for rank ", merged.getRank());
  Type element = verifyMapComputation(site, operands, regions);
  if (!element)
    return failure();
  inferred.push_back(
      getTensorType(merged.getShape(), element, getBounds(merged)));
  return success();
}
