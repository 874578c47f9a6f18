// stablehlo.while(%iterArg = %x, …) : types attributes {…} cond {…} do {…}

#include "dialect/stablehlo/ops.h"

using namespace mlir;
using namespace mlir::stablehlo;

ParseResult WhileOp::parse(OpAsmParser &parser, OperationState &result) {
  SMLoc location = parser.getCurrentLocation();
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  auto parseBinding = [&]() -> ParseResult {
    return failure(parser.parseOperand(arguments.emplace_back().ssaName,
                                       /*allowResultNumber=*/false) ||
                   parser.parseEqual() ||
                   parser.parseOperand(operands.emplace_back()));
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseBinding))
    return failure();
  if (!operands.empty() &&
      (parser.parseColon() || parser.parseTypeList(result.types)))
    return failure();
  if (operands.size() != result.types.size())
    return parser.emitError(location)
           << operands.size() << " operands present, but expected "
           << result.types.size();
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  for (auto [argument, type] : llvm::zip_equal(arguments, result.types))
    argument.type = type;
  return failure(parser.parseKeyword("cond") ||
                 parser.parseRegion(*result.addRegion(), arguments) ||
                 parser.parseKeyword("do") ||
                 parser.parseRegion(*result.addRegion(), arguments) ||
                 // After the regions: if one defined the name of an operand
                 // that is not defined yet, the operand would be replaced
                 // behind our back.
                 parser.resolveOperands(operands, result.types, location,
                                        result.operands));
}

void WhileOp::print(OpAsmPrinter &printer) {
  // Both regions name their arguments alike, so the condition's are shadowed by
  // the names that the body's get.
  printer << '(';
  llvm::interleaveComma(llvm::zip(getBody().getArguments(), getOperand()),
                        printer, [&](auto binding) {
                          auto [argument, operand] = binding;
                          printer << argument << " = " << operand;
                        });
  printer << ')';
  if (!getOperand().empty()) {
    printer << " : ";
    llvm::interleaveComma(getOperandTypes(), printer);
  }
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  printer.printNewline();
  printer << "cond ";
  printer.printRegion(getCond(), /*printEntryBlockArgs=*/false);
  printer << " do ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

void WhileOp::getAsmBlockArgumentNames(
    Region &region, function_ref<void(Value, StringRef)> setName) {
  for (BlockArgument argument : region.getArguments())
    setName(argument, "iterArg");
}
