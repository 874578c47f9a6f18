// Rules of the regions that reduce, compare and update.

#include "dialect/stablehlo/region_rules.h"

#include "dialect/stablehlo/dimension_rules.h"
#include "dialect/stablehlo/ops.h"

using namespace mlir;
using namespace mlir::stablehlo;

namespace {
bool isRealInteger(Type type) {
  return isSignedIntElement(type) || isUnsignedIntElement(type);
}

bool isScalarTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() == 0;
}

/// The terminator of the only block, null if the region is not that far.
ReturnOp findReturn(Region &region) {
  if (!region.hasOneBlock() || region.front().empty())
    return {};
  return dyn_cast<ReturnOp>(region.front().back());
}

/// The block has `numArguments` arguments and ends in stablehlo.return with
/// `numResults` operands. That there is one block is an invariant of the ops.
FailureOr<ReturnOp> verifySignature(const RuleSite &site, StringRef name,
                                    Region &region, size_t numArguments,
                                    size_t numResults) {
  if (region.getNumArguments() != numArguments)
    return site.fail(name, " must take ", numArguments, " arguments: takes ",
                     region.getNumArguments());
  ReturnOp terminator = findReturn(region);
  if (!terminator)
    return site.fail(name, " must end in stablehlo.return: does not");
  if (terminator->getNumOperands() != numResults)
    return site.fail(name, " must return ", numResults, " values: returns ",
                     terminator->getNumOperands());
  return terminator;
}
} // namespace

bool stablehlo::isPromotable(Type from, Type to) {
  bool sameKind =
      (from.isInteger(1) && to.isInteger(1)) ||
      (isRealInteger(from) && isRealInteger(to)) ||
      (isFloatElement(from) && isFloatElement(to)) ||
      (isa<ComplexType>(from) && isa<ComplexType>(to)) ||
      (isQuantizedElement(from) && isQuantizedElement(to) &&
       expressedType(from) == expressedType(to));
  return sameKind && elementBits(from) <= elementBits(to);
}

FailureOr<RankedTensorType>
stablehlo::verifyReducedOperands(const RuleSite &site, ValueRange operands) {
  if (operands.empty() || operands.size() % 2 != 0)
    return site.fail("number of inputs and init_values must be equal and at "
                     "least 1: ",
                     operands.size(), " operands");
  size_t count = operands.size() / 2;
  TypeRange inputs(operands.take_front(count));
  RankedTensorType merged = mergeShapes(inputs);
  if (!merged)
    return site.fail("inputs must have compatible shapes: are ", inputs);
  for (size_t i = 0; i < count; ++i) {
    Type init = operands[count + i].getType();
    if (!isScalarTensor(init))
      return site.fail("init_values must be 0-dimensional: init_value ", i,
                       " is ", init);
    if (!areCompatibleElementTypes(elementType(inputs[i]), elementType(init)))
      return site.fail("element types of inputs and init_values must be equal: "
                       "input ",
                       i, " is ", inputs[i], ", init_value ", i, " is ", init);
  }
  return merged;
}

LogicalResult stablehlo::verifyReducer(const RuleSite &site, StringRef name,
                                       Region &region,
                                       TypeRange inputs) {
  size_t count = inputs.size();
  FailureOr<ReturnOp> terminator =
      verifySignature(site, name, region, 2 * count, count);
  if (failed(terminator))
    return failure();
  for (auto [index, type] :
       llvm::enumerate((*terminator)->getOperandTypes())) {
    if (!isScalarTensor(type))
      return site.fail(name, " must return 0-dimensional tensors: value ",
                       index, " is ", type);
    for (size_t argument : {index, index + count}) {
      Type argumentType = region.getArgument(argument).getType();
      if (!areCompatibleTypes(argumentType, type))
        return site.fail(name, " must take what it returns: argument ",
                         argument, " is ", argumentType, ", value ", index,
                         " is ", type);
    }
    Type element = elementType(inputs[index]);
    if (!isPromotable(element, elementType(type)))
      return site.fail(name, " must return an element type that ", element,
                       " is promotable to: value ", index, " is ", type);
  }
  return success();
}

LogicalResult stablehlo::verifyPredicate(const RuleSite &site, StringRef name,
                                         Region &region,
                                         ValueRange inputs) {
  FailureOr<ReturnOp> terminator =
      verifySignature(site, name, region, 2 * inputs.size(), 1);
  if (failed(terminator))
    return failure();
  for (BlockArgument argument : region.getArguments()) {
    Type element = elementType(inputs[argument.getArgNumber() / 2].getType());
    if (!isScalarTensor(argument.getType()) ||
        !areCompatibleElementTypes(elementType(argument.getType()), element))
      return site.fail(name, " argument ", argument.getArgNumber(),
                       " must be ", RankedTensorType::get({}, element),
                       ": is ", argument.getType());
  }
  Type result = (*terminator)->getOperand(0).getType();
  if (!isScalarTensor(result) || !elementType(result).isInteger(1))
    return site.fail(name, " must return tensor<i1>: returns ", result);
  return success();
}

SmallVector<Type> stablehlo::reducedElementTypes(RegionRange regions,
                                                 unsigned index,
                                                 TypeRange inputs) {
  SmallVector<Type> types;
  for (Type input : inputs)
    types.push_back(elementType(input));
  if (index >= regions.size() || !regions[index])
    return types;
  ReturnOp terminator = findReturn(*regions[index]);
  if (!terminator || terminator->getNumOperands() != inputs.size())
    return types;
  for (auto [type, result] :
       llvm::zip_equal(types, terminator->getOperandTypes()))
    if (isa<RankedTensorType>(result))
      type = elementType(result);
  return types;
}
