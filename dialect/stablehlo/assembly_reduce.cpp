// The two forms of reduce:
//   stablehlo.reduce(%x init: %c) applies stablehlo.add
//       across dimensions = [1] : (…) -> …
//   stablehlo.reduce(%x init: %c), … across dimensions = [1] : (…) -> …
//       reducer(%a: t, %b: t) (…) {…}

#include "dialect/stablehlo/assembly.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::stablehlo;

namespace {
/// Whether the short form may name the op: it says nothing but its name, so
/// that operand order must not matter.
bool canBeApplied(OperationName name) {
  return name.getDialectNamespace() ==
             StablehloDialect::getDialectNamespace() &&
         name.hasTrait<mlir::OpTrait::NOperands<2>::Impl>() &&
         name.hasTrait<mlir::OpTrait::OneResult>() &&
         name.hasTrait<mlir::OpTrait::ZeroRegions>() &&
         name.hasTrait<mlir::OpTrait::IsCommutative>();
}

/// The op that the short form applies, or null if the body says more than the
/// parser of the short form builds: one op on scalars of the first input's
/// element type, its arguments in order, its result returned.
Operation *getAppliedOp(ReduceOp reduce) {
  Region &body = reduce.getBody();
  if (reduce.getInputs().empty() || !body.hasOneBlock())
    return nullptr;
  Block &block = body.front();
  if (!llvm::hasNItems(block, 2) || block.getNumArguments() != 2)
    return nullptr;
  Operation &inner = block.front();
  auto yield = dyn_cast<ReturnOp>(block.back());
  if (!yield || !canBeApplied(inner.getName()) || inner.getNumOperands() != 2 ||
      inner.getNumResults() != 1 || !inner.getAttrs().empty() ||
      !yield->getAttrs().empty())
    return nullptr;
  Type scalar = RankedTensorType::get(
      {}, elementType(reduce.getInputs().front().getType()));
  auto isScalar = [&](Type type) { return type == scalar; };
  if (!llvm::all_of(inner.getOperandTypes(), isScalar) ||
      !isScalar(inner.getResult(0).getType()) ||
      !llvm::equal(block.getArguments(), inner.getOperands()) ||
      !llvm::equal(inner.getResults(), yield.getOperands()))
    return nullptr;
  return &inner;
}

/// `across dimensions = [1] {attributes} : (…) -> …`.
ParseResult parseDimensionsAndType(OpAsmParser &parser, OperationState &result,
                                   FunctionType &type) {
  if (parser.parseKeyword("across") || parser.parseKeyword("dimensions") ||
      parser.parseEqual())
    return failure();
  FailureOr<SmallVector<int64_t>> dimensions = parseBracketedDims(parser);
  if (failed(dimensions) || parser.parseOptionalAttrDict(result.attributes) ||
      parser.parseColon() || parser.parseType(type))
    return failure();
  result.addAttribute("dimensions",
                      parser.getBuilder().getDenseI64ArrayAttr(*dimensions));
  result.addTypes(type.getResults());
  return success();
}

/// `reducer(%a: t, %b: t) (%c: u, %d: u) {…}`.
ParseResult parseReducer(OpAsmParser &parser, OperationState &result) {
  if (parser.parseKeyword("reducer"))
    return failure();
  SmallVector<OpAsmParser::Argument> elements, accumulators;
  while (succeeded(parser.parseOptionalLParen()))
    if (parser.parseArgument(elements.emplace_back(), /*allowType=*/true) ||
        parser.parseComma() ||
        parser.parseArgument(accumulators.emplace_back(),
                             /*allowType=*/true) ||
        parser.parseRParen())
      return failure();
  llvm::append_range(elements, accumulators);
  return parser.parseRegion(*result.addRegion(), elements);
}

void buildAppliedBody(OpAsmParser &parser, OperationState &result,
                      OperationName inner, Type inputType,
                      Location innerLocation) {
  Type scalar = RankedTensorType::get({}, elementType(inputType));
  Block &block = result.addRegion()->emplaceBlock();
  block.addArguments({scalar, scalar}, {innerLocation, innerLocation});
  OpBuilder builder(parser.getContext());
  builder.setInsertionPointToStart(&block);
  OperationState state(innerLocation, inner);
  state.addOperands(block.getArguments());
  state.addTypes(scalar);
  Operation *op = builder.create(state);
  builder.create<ReturnOp>(innerLocation, op->getResults());
}
} // namespace

ParseResult ReduceOp::parse(OpAsmParser &parser, OperationState &result) {
  SMLoc start = parser.getCurrentLocation();
  SmallVector<OpAsmParser::UnresolvedOperand> operands, initValues;
  auto parsePair = [&]() -> ParseResult {
    return failure(
        parser.parseLParen() || parser.parseOperand(operands.emplace_back()) ||
        parser.parseKeyword("init") || parser.parseColon() ||
        parser.parseOperand(initValues.emplace_back()) || parser.parseRParen());
  };
  // Without inputs nothing stands before the dimensions.
  if (succeeded(parser.parseOptionalLParen())) {
    if (parser.parseOperand(operands.emplace_back()) ||
        parser.parseKeyword("init") || parser.parseColon() ||
        parser.parseOperand(initValues.emplace_back()) || parser.parseRParen())
      return failure();
    while (succeeded(parser.parseOptionalComma()))
      if (parsePair())
        return failure();
  }
  llvm::append_range(operands, initValues);

  // Operands are resolved after the region: if it defined the name of one that
  // is not defined yet, the operand would be replaced behind our back.
  FunctionType type;
  if (failed(parser.parseOptionalKeyword("applies")))
    return failure(parseDimensionsAndType(parser, result, type) ||
                   parseReducer(parser, result) ||
                   parser.resolveOperands(operands, type.getInputs(), start,
                                          result.operands));

  SMLoc nameLocation = parser.getCurrentLocation();
  FailureOr<OperationName> inner = parser.parseCustomOperationName();
  if (failed(inner))
    return failure();
  if (!canBeApplied(*inner))
    return parser.emitError(nameLocation)
           << "only a commutative op of stablehlo with two operands and one "
              "result can be applied: got "
           << inner->getStringRef();
  std::optional<Location> explicitLocation;
  if (parseDimensionsAndType(parser, result, type) ||
      parser.parseOptionalLocationSpecifier(explicitLocation))
    return failure();
  if (type.getInputs().empty())
    return parser.emitError(start) << "reduce needs an input to apply an op to";
  if (parser.resolveOperands(operands, type.getInputs(), start,
                             result.operands))
    return failure();
  if (explicitLocation)
    result.location = *explicitLocation;
  buildAppliedBody(parser, result, *inner, type.getInput(0), result.location);
  return success();
}

void ReduceOp::print(OpAsmPrinter &printer) {
  llvm::interleaveComma(
      llvm::zip(getInputs(), getInitValues()), printer, [&](auto pair) {
        auto [input, initValue] = pair;
        printer << '(' << input << " init: " << initValue << ')';
      });
  Operation *applied = getAppliedOp(*this);
  if (applied)
    printer << " applies " << applied->getName().getStringRef();
  printer << " across dimensions = ";
  printBracketedDims(printer, getDimensions());
  printer.printOptionalAttrDict((*this)->getAttrs(), {"dimensions"});
  printer << " : ";
  printer.printFunctionalType(*this);
  if (applied)
    return;
  printer.printNewline();
  printer << " reducer";
  Block::BlockArgListType arguments = getBody().getArguments();
  for (size_t index = 0; index < arguments.size() / 2; ++index) {
    printer << '(';
    printer.printRegionArgument(arguments[index]);
    printer << ", ";
    printer.printRegionArgument(arguments[index + arguments.size() / 2]);
    printer << ") ";
  }
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}
