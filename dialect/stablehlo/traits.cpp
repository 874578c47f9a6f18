// What the shared rules of traits.td check and say.

#include "dialect/stablehlo/traits.h"

#include "dialect/stablehlo/type_rules.h"

#include "mlir/Interfaces/InferTypeOpInterface.h"

using namespace mlir;
using namespace mlir::stablehlo;

InFlightDiagnostic stablehlo::opError(Operation *op) {
  return op->emitError() << "'" << op->getName().getStringRef() << "': ";
}

LogicalResult stablehlo::inferError(std::optional<Location> location,
                                    StringRef opName, const Twine &message) {
  if (!location)
    return failure();
  return emitError(*location) << "'" << opName << "': " << message;
}

namespace {
/// "operand 1" or "result 0", by the position among both.
void printPosition(InFlightDiagnostic &diagnostic, unsigned index,
                   unsigned numOperands) {
  if (index < numOperands)
    diagnostic << "operand " << index;
  else
    diagnostic << "result " << index - numOperands;
}

/// Compares each type with the first; `what` completes "must have compatible".
LogicalResult compareWithFirst(Operation *op, ArrayRef<Type> types,
                               function_ref<bool(Type, Type)> areCompatible,
                               StringRef what) {
  for (auto [index, type] : llvm::enumerate(types)) {
    if (areCompatible(types.front(), type))
      continue;
    InFlightDiagnostic diagnostic = opError(op);
    unsigned numOperands = op->getNumOperands();
    diagnostic << what << " must be compatible: ";
    printPosition(diagnostic, 0, numOperands);
    diagnostic << " is " << types.front() << ", ";
    printPosition(diagnostic, static_cast<unsigned>(index), numOperands);
    return diagnostic << " is " << type;
  }
  return success();
}

SmallVector<Type> allTypes(Operation *op) {
  SmallVector<Type> types(op->getOperandTypes());
  llvm::append_range(types, op->getResultTypes());
  return types;
}

LogicalResult comparePairwise(Operation *op,
                              function_ref<bool(Type, Type)> areEqual,
                              StringRef what) {
  if (op->getNumOperands() != op->getNumResults())
    return opError(op) << "number of operands and results must be equal: "
                       << op->getNumOperands() << " operands, "
                       << op->getNumResults() << " results";
  for (auto [index, operand, result] :
       llvm::enumerate(op->getOperandTypes(), op->getResultTypes()))
    if (!areEqual(operand, result))
      return opError(op) << what << " of operand " << index << " and result "
                         << index << " must be equal: " << operand << " and "
                         << result;
  return success();
}

bool haveCompatibleElements(Type a, Type b) {
  return areCompatibleElementTypes(elementType(a), elementType(b));
}
} // namespace

LogicalResult
stablehlo::OpTrait::detail::verifyCompatibleShapes(Operation *op) {
  return compareWithFirst(op, allTypes(op), areCompatibleShapes, "shapes");
}

LogicalResult
stablehlo::OpTrait::detail::verifyCompatibleElementTypes(Operation *op) {
  return compareWithFirst(op, allTypes(op), haveCompatibleElements,
                          "element types");
}

LogicalResult
stablehlo::OpTrait::detail::verifyCompatibleOperandElementTypes(Operation *op) {
  SmallVector<Type> types(op->getOperandTypes());
  return compareWithFirst(op, types, haveCompatibleElements, "element types");
}

LogicalResult
stablehlo::OpTrait::detail::verifyPairwiseSameType(Operation *op) {
  return comparePairwise(op, [](Type a, Type b) { return a == b; }, "types");
}

LogicalResult
stablehlo::OpTrait::detail::verifyPairwiseSameElementType(Operation *op) {
  return comparePairwise(
      op, [](Type a, Type b) { return elementType(a) == elementType(b); },
      "element types");
}

LogicalResult
stablehlo::OpTrait::detail::verifyKeepsQuantization(Operation *op) {
  if (op->getNumOperands() == 0)
    return success();
  Type first = elementType(op->getOperand(0).getType());
  for (auto [index, type] : llvm::enumerate(allTypes(op))) {
    Type element = elementType(type);
    if (element == first || !isQuantizedElement(element))
      continue;
    InFlightDiagnostic diagnostic = opError(op);
    diagnostic << "quantized element types must be equal: operand 0 has "
               << first << ", ";
    printPosition(diagnostic, static_cast<unsigned>(index),
                  op->getNumOperands());
    return diagnostic << " has " << element;
  }
  return success();
}

LogicalResult stablehlo::OpTrait::detail::verifyInferredResults(Operation *op) {
  auto inference = dyn_cast<InferTypeOpInterface>(op);
  if (!inference)
    return success();
  // With a location, every failure of inference says why.
  SmallVector<Type> inferred;
  if (failed(inference.inferReturnTypes(
          op->getContext(), op->getLoc(), op->getOperands(),
          op->getRawDictionaryAttrs(), op->getPropertiesStorage(),
          op->getRegions(), inferred)))
    return failure();
  if (inference.isCompatibleReturnTypes(inferred, op->getResultTypes()))
    return success();
  return opError(op) << "result types must agree with the inferred ones: "
                        "inferred "
                     << inferred << ", got " << op->getResultTypes();
}

LogicalResult
stablehlo::OpTrait::detail::inferSameType(std::optional<Location> location,
                                          StringRef opName, ValueRange operands,
                                          SmallVectorImpl<Type> &inferred) {
  if (operands.empty())
    return inferError(location, opName, "needs an operand: has none");
  Type merged = operands.front().getType();
  for (Value operand : operands.drop_front()) {
    Type next = mergeTypes(merged, operand.getType());
    if (!next && location)
      return emitError(*location)
             << "'" << opName
             << "': operand types must be compatible: " << merged << " and "
             << operand.getType();
    if (!next)
      return failure();
    merged = next;
  }
  inferred.push_back(merged);
  return success();
}

bool stablehlo::OpTrait::detail::hasOnlyStaticTensors(Operation *op) {
  return llvm::all_of(allTypes(op), [](Type type) {
    auto shaped = dyn_cast<ShapedType>(type);
    return !shaped || shaped.hasStaticShape();
  });
}
