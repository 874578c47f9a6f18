// The directives that say types, operands and small attributes. Those of one
// op or family with a larger syntax have files of their own.

#include "dialect/stablehlo/assembly.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::stablehlo;

namespace {
ParseResult assignFunctionType(OpAsmParser &parser, SMLoc location,
                               FunctionType function, ArrayRef<Type *> operands,
                               Type &result) {
  if (function.getNumInputs() != operands.size())
    return parser.emitError(location)
           << "number of operands and of types must be equal: "
           << operands.size() << " operands, " << function.getNumInputs()
           << " types";
  if (function.getNumResults() != 1)
    return parser.emitError(location)
           << "needs one result type: has " << function.getNumResults();
  for (auto [operand, type] : llvm::zip_equal(operands, function.getInputs()))
    *operand = type;
  result = function.getResult(0);
  return success();
}

void printFunctionType(OpAsmPrinter &printer, TypeRange operands, Type result) {
  printer << '(';
  llvm::interleaveComma(operands, printer);
  printer << ") -> " << result;
}

/// The type of either part of a complex tensor; null for anything else.
Type getPartType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return {};
  auto complex = dyn_cast<ComplexType>(tensor.getElementType());
  if (!complex)
    return {};
  return tensor.clone(complex.getElementType());
}

/// ` = [HIGH, DEFAULT]`, what follows the keyword.
ParseResult parsePrecisionList(OpAsmParser &parser, ArrayAttr &precision) {
  if (parser.parseEqual())
    return failure();
  SmallVector<Attribute> entries;
  auto parseEntry = [&]() -> ParseResult {
    SMLoc location = parser.getCurrentLocation();
    StringRef keyword;
    if (parser.parseKeyword(&keyword))
      return failure();
    std::optional<Precision> value = symbolizePrecision(keyword);
    if (!value)
      return parser.emitError(location)
             << "expected one of DEFAULT, HIGH, HIGHEST: got " << keyword;
    entries.push_back(PrecisionAttr::get(parser.getContext(), *value));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseEntry))
    return failure();
  precision = parser.getBuilder().getArrayAttr(entries);
  return success();
}

ParseResult parseAlgorithm(OpAsmParser &parser, DotAlgorithmAttr &algorithm) {
  if (parser.parseEqual())
    return failure();
  algorithm =
      dyn_cast_or_null<DotAlgorithmAttr>(DotAlgorithmAttr::parse(parser, {}));
  return success(static_cast<bool>(algorithm));
}

ParseResult parseDimsPair(AsmParser &parser, SmallVector<int64_t> &lhs,
                          SmallVector<int64_t> &rhs) {
  FailureOr<SmallVector<int64_t>> left = parseBracketedDims(parser);
  if (failed(left) || parser.parseKeyword("x"))
    return failure();
  FailureOr<SmallVector<int64_t>> right = parseBracketedDims(parser);
  if (failed(right))
    return failure();
  lhs = std::move(*left);
  rhs = std::move(*right);
  return success();
}

void printDimsPair(AsmPrinter &printer, ArrayRef<int64_t> lhs,
                   ArrayRef<int64_t> rhs) {
  printBracketedDims(printer, lhs);
  printer << " x ";
  printBracketedDims(printer, rhs);
}
} // namespace

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

ParseResult stablehlo::detail::parseSameOperandsAndResultType(
    OpAsmParser &parser, ArrayRef<Type *> operands, Type &result) {
  SMLoc location = parser.getCurrentLocation();
  Type type;
  if (parser.parseType(type))
    return failure();
  if (auto function = dyn_cast<FunctionType>(type))
    return assignFunctionType(parser, location, function, operands, result);
  for (Type *operand : operands)
    *operand = type;
  result = type;
  return success();
}

void stablehlo::detail::printSameOperandsAndResultType(OpAsmPrinter &printer,
                                                       TypeRange operands,
                                                       Type result) {
  if (llvm::all_of(operands, [&](Type type) { return type == result; }))
    printer << result;
  else
    printFunctionType(printer, operands, result);
}

ParseResult stablehlo::parseVariadicSameOperandsAndResultType(
    OpAsmParser &parser, ArrayRef<OpAsmParser::UnresolvedOperand> operands,
    SmallVectorImpl<Type> &operandTypes, Type &result) {
  operandTypes.resize(operands.size());
  SmallVector<Type *> slots;
  for (Type &type : operandTypes)
    slots.push_back(&type);
  return detail::parseSameOperandsAndResultType(parser, slots, result);
}

void stablehlo::printVariadicSameOperandsAndResultType(OpAsmPrinter &printer,
                                                       Operation *,
                                                       OperandRange,
                                                       TypeRange operandTypes,
                                                       Type result) {
  detail::printSameOperandsAndResultType(printer, operandTypes, result);
}

ParseResult stablehlo::parseComplexOpType(OpAsmParser &parser, Type &lhs,
                                          Type &rhs, Type &result) {
  SMLoc location = parser.getCurrentLocation();
  Type type;
  if (parser.parseType(type))
    return failure();
  if (auto function = dyn_cast<FunctionType>(type))
    return assignFunctionType(parser, location, function, {&lhs, &rhs}, result);
  Type part = getPartType(type);
  if (!part)
    return parser.emitError(location)
           << "expected a tensor of complex numbers: got " << type;
  lhs = rhs = part;
  result = type;
  return success();
}

void stablehlo::printComplexOpType(OpAsmPrinter &printer, Operation *, Type lhs,
                                   Type rhs, Type result) {
  Type part = getPartType(result);
  if (part && lhs == part && rhs == part)
    printer << result;
  else
    printFunctionType(printer, {lhs, rhs}, result);
}

ParseResult stablehlo::parseSelectOpType(OpAsmParser &parser, Type &pred,
                                         Type &onTrue, Type &onFalse,
                                         Type &result) {
  SMLoc location = parser.getCurrentLocation();
  SmallVector<Type> types;
  if (parser.parseTypeList(types))
    return failure();
  if (types.size() == 2) {
    pred = types[0];
    onTrue = onFalse = result = types[1];
    return success();
  }
  auto function =
      types.size() == 1 ? dyn_cast<FunctionType>(types[0]) : FunctionType();
  if (!function)
    return parser.emitError(location)
           << "expected two types or a function type: got " << types.size()
           << (types.size() == 1 ? " type" : " types");
  return assignFunctionType(parser, location, function,
                            {&pred, &onTrue, &onFalse}, result);
}

void stablehlo::printSelectOpType(OpAsmPrinter &printer, Operation *, Type pred,
                                  Type onTrue, Type onFalse, Type result) {
  if (onTrue == result && onFalse == result)
    printer << pred << ", " << result;
  else
    printFunctionType(printer, {pred, onTrue, onFalse}, result);
}

ParseResult stablehlo::parseTupleOpType(OpAsmParser &parser,
                                        SmallVectorImpl<Type> &operands,
                                        Type &result) {
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseType(result))
    return failure();
  auto tuple = dyn_cast<TupleType>(result);
  if (!tuple)
    return parser.emitError(location)
           << "expected a tuple type: got " << result;
  llvm::append_range(operands, tuple.getTypes());
  return success();
}

void stablehlo::printTupleOpType(OpAsmPrinter &printer, Operation *, TypeRange,
                                 Type result) {
  printer << result;
}

ParseResult stablehlo::parsePairwiseOpType(OpAsmParser &parser,
                                           SmallVectorImpl<Type> &operands,
                                           SmallVectorImpl<Type> &results) {
  if (parser.parseTypeList(operands))
    return failure();
  results.assign(operands.begin(), operands.end());
  return success();
}

void stablehlo::printPairwiseOpType(OpAsmPrinter &printer, Operation *,
                                    TypeRange operands, TypeRange) {
  llvm::interleaveComma(operands, printer);
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

ParseResult stablehlo::parseVariadicOperandWithAttribute(
    OpAsmParser &parser,
    SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands) {
  while (true) {
    OpAsmParser::UnresolvedOperand operand;
    OptionalParseResult parsed = parser.parseOptionalOperand(operand);
    if (!parsed.has_value())
      return success();
    if (failed(*parsed) || parser.parseComma())
      return failure();
    operands.push_back(operand);
  }
}

void stablehlo::printVariadicOperandWithAttribute(OpAsmPrinter &printer,
                                                  Operation *,
                                                  OperandRange operands) {
  llvm::interleaveComma(operands, printer);
  printer << ',';
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<int64_t>>
stablehlo::parseBracketedDims(AsmParser &parser) {
  SmallVector<int64_t> dims;
  auto parseDim = [&] { return parser.parseInteger(dims.emplace_back()); };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseDim))
    return failure();
  return dims;
}

void stablehlo::printBracketedDims(AsmPrinter &printer,
                                   ArrayRef<int64_t> dims) {
  printer << '[';
  llvm::interleaveComma(dims, printer);
  printer << ']';
}

ParseResult stablehlo::parseSliceRanges(OpAsmParser &parser,
                                        DenseI64ArrayAttr &starts,
                                        DenseI64ArrayAttr &limits,
                                        DenseI64ArrayAttr &strides) {
  SmallVector<int64_t> start, limit, stride;
  auto parseRange = [&]() -> ParseResult {
    if (parser.parseInteger(start.emplace_back()) || parser.parseColon() ||
        parser.parseInteger(limit.emplace_back()))
      return failure();
    stride.push_back(1);
    if (succeeded(parser.parseOptionalColon()))
      return parser.parseInteger(stride.back());
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseRange))
    return failure();
  Builder &builder = parser.getBuilder();
  starts = builder.getDenseI64ArrayAttr(start);
  limits = builder.getDenseI64ArrayAttr(limit);
  strides = builder.getDenseI64ArrayAttr(stride);
  return success();
}

void stablehlo::printSliceRanges(OpAsmPrinter &printer, Operation *,
                                 ArrayRef<int64_t> starts,
                                 ArrayRef<int64_t> limits,
                                 ArrayRef<int64_t> strides) {
  // Lists of different lengths only appear in IR that failed to verify.
  printer << '[';
  llvm::interleaveComma(llvm::zip(starts, limits, strides), printer,
                        [&](auto range) {
                          auto [start, limit, stride] = range;
                          printer << start << ':' << limit;
                          if (stride != 1)
                            printer << ':' << stride;
                        });
  printer << ']';
}

ParseResult stablehlo::parseCustomCallTarget(AsmParser &parser,
                                             StringAttr &target) {
  return parser.parseSymbolName(target);
}

void stablehlo::printCustomCallTarget(AsmPrinter &printer, Operation *,
                                      StringAttr target) {
  printer.printSymbolName(target.getValue());
}

ParseResult stablehlo::parsePrecisionConfig(OpAsmParser &parser,
                                            ArrayAttr &precision) {
  if (failed(parser.parseOptionalComma()))
    return success();
  if (parser.parseKeyword("precision"))
    return failure();
  return parsePrecisionList(parser, precision);
}

void stablehlo::printPrecisionConfig(OpAsmPrinter &printer, Operation *,
                                     ArrayAttr precision) {
  if (!precision)
    return;
  printer << ", precision = [";
  llvm::interleaveComma(precision, printer, [&](Attribute entry) {
    if (auto value = dyn_cast<PrecisionAttr>(entry))
      printer << stringifyPrecision(value.getValue());
    else
      printer << entry;
  });
  printer << ']';
}

ParseResult stablehlo::parsePrecisionConfigAndAlgorithm(
    OpAsmParser &parser, ArrayAttr &precision, DotAlgorithmAttr &algorithm) {
  if (failed(parser.parseOptionalComma()))
    return success();
  SMLoc location = parser.getCurrentLocation();
  StringRef keyword;
  if (failed(parser.parseOptionalKeyword(&keyword, {"precision", "algorithm"})))
    return parser.emitError(location) << "expected 'precision' or 'algorithm'";
  if (keyword == "precision") {
    if (parsePrecisionList(parser, precision))
      return failure();
    if (failed(parser.parseOptionalComma()))
      return success();
    if (parser.parseKeyword("algorithm"))
      return failure();
  }
  return parseAlgorithm(parser, algorithm);
}

void stablehlo::printPrecisionConfigAndAlgorithm(OpAsmPrinter &printer,
                                                 Operation *op,
                                                 ArrayAttr precision,
                                                 DotAlgorithmAttr algorithm) {
  printPrecisionConfig(printer, op, precision);
  if (!algorithm)
    return;
  printer << ", algorithm = ";
  algorithm.print(printer);
}

ParseResult
stablehlo::parseDotDimensionNumbers(AsmParser &parser,
                                    DotDimensionNumbersAttr &numbers) {
  SmallVector<int64_t> lhsBatching, rhsBatching, lhsContracting, rhsContracting;
  if (succeeded(parser.parseOptionalKeyword("batching_dims")) &&
      (parser.parseEqual() || parseDimsPair(parser, lhsBatching, rhsBatching) ||
       parser.parseComma()))
    return failure();
  if (parser.parseKeyword("contracting_dims") || parser.parseEqual() ||
      parseDimsPair(parser, lhsContracting, rhsContracting))
    return failure();
  numbers =
      DotDimensionNumbersAttr::get(parser.getContext(), lhsBatching,
                                   rhsBatching, lhsContracting, rhsContracting);
  return success();
}

void stablehlo::printDotDimensionNumbers(AsmPrinter &printer, Operation *,
                                         DotDimensionNumbersAttr numbers) {
  ArrayRef<int64_t> lhsBatching = numbers.getLhsBatchingDimensions();
  ArrayRef<int64_t> rhsBatching = numbers.getRhsBatchingDimensions();
  if (!lhsBatching.empty() || !rhsBatching.empty()) {
    printer << "batching_dims = ";
    printDimsPair(printer, lhsBatching, rhsBatching);
    printer << ", ";
  }
  printer << "contracting_dims = ";
  printDimsPair(printer, numbers.getLhsContractingDimensions(),
                numbers.getRhsContractingDimensions());
}

ParseResult stablehlo::parseExponentMantissa(AsmParser &parser,
                                             IntegerAttr &exponent,
                                             IntegerAttr &mantissa) {
  SMLoc location = parser.getCurrentLocation();
  StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return failure();
  auto [exponentText, mantissaText] = keyword.split('m');
  int32_t exponentBits, mantissaBits;
  if (!exponentText.consume_front("e") ||
      !llvm::all_of(exponentText, llvm::isDigit) ||
      !llvm::all_of(mantissaText, llvm::isDigit) ||
      exponentText.getAsInteger(10, exponentBits) ||
      mantissaText.getAsInteger(10, mantissaBits))
    return parser.emitError(location)
           << "expected a format such as e5m10: got " << keyword;
  exponent = parser.getBuilder().getI32IntegerAttr(exponentBits);
  mantissa = parser.getBuilder().getI32IntegerAttr(mantissaBits);
  return success();
}

void stablehlo::printExponentMantissa(AsmPrinter &printer, Operation *,
                                      IntegerAttr exponent,
                                      IntegerAttr mantissa) {
  printer << 'e' << exponent.getValue().getSExtValue() << 'm'
          << mantissa.getValue().getSExtValue();
}
