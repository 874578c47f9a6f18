#include "dialect/sdy/ops.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::sdy;

// --- directives of the formats ----------------------------------------------

/// `[<@mesh, [{"a"}]>, …]`.
static ParseResult parseShardingList(OpAsmParser &parser,
                                     TensorShardingPerValueAttr &result) {
  SmallVector<TensorShardingAttr> shardings;
  auto parseOne = [&]() -> ParseResult {
    auto sharding = FieldParser<TensorShardingAttr>::parse(parser);
    if (failed(sharding))
      return failure();
    shardings.push_back(*sharding);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne))
    return failure();
  result = TensorShardingPerValueAttr::get(parser.getContext(), shardings);
  return success();
}

static void printShardingList(OpAsmPrinter &printer, Operation *,
                              TensorShardingPerValueAttr shardings) {
  printer << '[';
  printer.printStrippedAttrOrType(shardings.getShardings());
  printer << ']';
}

/// `(%a: type, …) { … }`: arguments of the body without a block label.
static ParseResult parseBodyWithArguments(OpAsmParser &parser, Region &region) {
  SmallVector<OpAsmParser::Argument> arguments;
  return failure(
      parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren,
                               /*allowType=*/true, /*allowAttrs=*/true) ||
      parser.parseRegion(region, arguments));
}

static void printBodyWithArguments(OpAsmPrinter &printer, Operation *,
                                   Region &region) {
  printer << '(';
  llvm::interleaveComma(
      region.getArguments(), printer,
      [&](BlockArgument argument) { printer.printRegionArgument(argument); });
  printer << ") ";
  printer.printRegion(region, /*printEntryBlockArgs=*/false,
                      /*printBlockTerminators=*/true);
}

#define GET_OP_CLASSES
#include "dialect/sdy/ops.cpp.inc"

// --- constant ---------------------------------------------------------------

/// `dense<1.0> : tensor<f32>`, or `() {value = …} : () -> type` where the type
/// of the result is another one.
ParseResult ConstantOp::parse(OpAsmParser &parser, OperationState &result) {
  if (succeeded(parser.parseOptionalLParen())) {
    FunctionType type;
    if (parser.parseRParen() ||
        parser.parseOptionalAttrDict(result.attributes) ||
        parser.parseColonType(type))
      return failure();
    result.addTypes(type.getResults());
    return success();
  }
  ElementsAttr value;
  if (parser.parseOptionalAttrDict(result.attributes) ||
      parser.parseAttribute(value, "value", result.attributes))
    return failure();
  result.addTypes(value.getType());
  return success();
}

void ConstantOp::print(OpAsmPrinter &printer) {
  if (getValue().getType() == getOutput().getType()) {
    printer.printOptionalAttrDict((*this)->getAttrs(), {"value"});
    printer << ' ' << getValue();
    return;
  }
  printer << "() ";
  printer.printOptionalAttrDict((*this)->getAttrs());
  printer << " : () -> " << getOutput().getType();
}

LogicalResult ConstantOp::verify() {
  ShapedType value = getValue().getShapedType();
  auto output = cast<ShapedType>(getOutput().getType());
  // Quantized results are given by their stored integers.
  bool isQuantized = output.getElementType().getDialect().getNamespace() !=
                     value.getElementType().getDialect().getNamespace();
  if (value.getShape() != output.getShape() ||
      (!isQuantized && value.getElementType() != output.getElementType()))
    return emitOpError() << "result must have the type of the value: " << output
                         << " and " << value;
  return success();
}

// --- small verifiers --------------------------------------------------------

LogicalResult PropagationBarrierOp::verify() {
  if (getAllowedDirection() == PropagationDirection::BOTH)
    return emitOpError() << "direction must not be BOTH, which blocks nothing";
  return success();
}

LogicalResult FuncDataFlowEdgeOp::verify() {
  if (!cast<ShapedType>(getType()).hasStaticShape())
    return emitOpError() << "shape must be static: " << getType();
  if (!getOperand().hasOneUse())
    return emitOpError() << "operand must have no other use";
  if (auto argument = dyn_cast<BlockArgument>(getOperand())) {
    if (!isa_and_nonnull<FunctionOpInterface>(
            argument.getOwner()->getParentOp()))
      return emitOpError() << "operand must be an argument of a function";
    return success();
  }
  Operation *definition = getOperand().getDefiningOp();
  if (!isa<CallOpInterface>(definition))
    return emitOpError() << "operand must be a result of a call: "
                         << definition->getName();
  return success();
}
