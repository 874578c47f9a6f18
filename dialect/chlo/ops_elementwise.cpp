// Functions of each element: generated code, inference, folds.

#include "dialect/chlo/ops.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::chlo;

#define GET_OP_CLASSES
#include "dialect/chlo/ops_elementwise.cpp.inc"

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

LogicalResult ConstantOp::inferReturnTypes(MLIRContext *,
                                           std::optional<Location>,
                                           ValueRange operands,
                                           DictionaryAttr attributes,
                                           OpaqueProperties properties,
                                           RegionRange regions,
                                           SmallVectorImpl<Type> &inferred) {
  Adaptor adaptor(operands, attributes, properties, regions);
  if (!adaptor.getValue())
    return failure();
  inferred.push_back(adaptor.getValue().getType());
  return success();
}

LogicalResult ConstantLikeOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, ValueRange operands,
    DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
    SmallVectorImpl<Type> &inferred) {
  Adaptor adaptor(operands, attributes, properties, regions);
  auto operand = dyn_cast<ShapedType>(operands[0].getType());
  if (!operand || !adaptor.getValue())
    return stablehlo::inferError(location, getOperationName(),
                                 "needs a shaped operand and a value");
  Type element = adaptor.getValue().getType();
  if (isa<ShapedType>(element))
    return stablehlo::inferError(location, getOperationName(),
                                 "value must be a scalar: it is shaped");
  inferred.push_back(operand.clone(element));
  return success();
}

OpFoldResult ConstantLikeOp::fold(FoldAdaptor) {
  auto type = cast<ShapedType>(getType());
  // Only what DenseElementsAttr can hold; quantized types stay as they are.
  if (!type.hasStaticShape() || getValue().getType() != type.getElementType() ||
      !isa<IntegerAttr, FloatAttr>(getValue()))
    return {};
  return DenseElementsAttr::get(type, getValue());
}
