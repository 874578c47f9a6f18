// `stablehlo.constant dense<1.0> : tensor<2xf32>`, or the generic form without
// quotes where the type of the value is not that of the result (quantized).

#include "dialect/stablehlo/ops.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::stablehlo;

ParseResult ConstantOp::parse(OpAsmParser &parser, OperationState &result) {
  if (succeeded(parser.parseOptionalLParen())) {
    Type type;
    if (parser.parseRParen())
      return failure();
    if (succeeded(parser.parseOptionalLess()) &&
        (parser.parseAttribute(result.propertiesAttr) || parser.parseGreater()))
      return failure();
    if (parser.parseOptionalAttrDict(result.attributes) ||
        parser.parseColon() || parser.parseLParen() || parser.parseRParen() ||
        parser.parseArrow() || parser.parseType(type))
      return failure();
    result.addTypes(type);
    return success();
  }
  if (parser.parseOptionalAttrDict(result.attributes))
    return failure();
  SMLoc location = parser.getCurrentLocation();
  Attribute value;
  if (parser.parseAttribute(value))
    return failure();
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements)
    return parser.emitError(location)
           << "expected the elements of a tensor: got " << value;
  result.addAttribute("value", elements);
  result.addTypes(elements.getType());
  return success();
}

void ConstantOp::print(OpAsmPrinter &printer) {
  ElementsAttr value = getValue();
  if (value.getType() != getOutput().getType()) {
    printer.printGenericOp(*this, /*printOpName=*/false);
    return;
  }
  printer.printOptionalAttrDict((*this)->getAttrs(), {"value"});
  printer << ' ' << value;
}

void ConstantOp::getAsmResultNames(
    function_ref<void(Value, StringRef)> setName) {
  bool isInteger = isa<IntegerType>(elementType(getOutput().getType()));
  setName(getOutput(), isInteger ? "c" : "cst");
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

void ConstantOp::build(OpBuilder &builder, OperationState &state,
                       Attribute value) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements) {
    auto scalar = cast<TypedAttr>(value);
    elements = DenseElementsAttr::get(
        RankedTensorType::get({}, scalar.getType()), value);
  }
  build(builder, state, elements.getType(), elements);
}
