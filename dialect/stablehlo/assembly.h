#pragma once

#include "dialect/stablehlo/ops.h"

// The `custom<…>` directives of the ops' declarative formats, named as there.

namespace mlir::stablehlo {

/// The older spelling `#stablehlo.type_extensions<bounds = [4, ?]>` of
/// `#stablehlo.bounds<4, ?>`, from `<` on.
Attribute parseTypeExtensions(AsmParser &parser);

/// `[1, 2]`, the form of every list of dimension numbers.
FailureOr<SmallVector<int64_t>> parseBracketedDims(AsmParser &parser);
void printBracketedDims(AsmPrinter &printer, ArrayRef<int64_t> dims);

namespace detail {
ParseResult parseSameOperandsAndResultType(OpAsmParser &parser,
                                           ArrayRef<Type *> operands,
                                           Type &result);
void printSameOperandsAndResultType(OpAsmPrinter &printer, TypeRange operands,
                                    Type result);
} // namespace detail

/// One type when all are equal, `(a, b) -> c` otherwise.
template <typename... Types>
ParseResult parseSameOperandsAndResultType(OpAsmParser &parser,
                                           Types &...types) {
  Type *all[] = {&types...};
  return detail::parseSameOperandsAndResultType(
      parser, ArrayRef<Type *>(all).drop_back(), *ArrayRef<Type *>(all).back());
}
template <typename... Types>
void printSameOperandsAndResultType(OpAsmPrinter &printer, Operation *,
                                    Types... types) {
  Type all[] = {types...};
  detail::printSameOperandsAndResultType(printer,
                                         ArrayRef<Type>(all).drop_back(),
                                         ArrayRef<Type>(all).back());
}

ParseResult parseVariadicSameOperandsAndResultType(
    OpAsmParser &parser, OperandRange operands, TypeRange operandTypes,
    Type result) = delete;
ParseResult parseVariadicSameOperandsAndResultType(
    OpAsmParser &parser, ArrayRef<OpAsmParser::UnresolvedOperand> operands,
    SmallVectorImpl<Type> &operandTypes, Type &result);
void printVariadicSameOperandsAndResultType(OpAsmPrinter &printer,
                                            Operation *op,
                                            OperandRange operands,
                                            TypeRange operandTypes,
                                            Type result);

/// `complex<f32>` when the parts' type follows from the result's.
ParseResult parseComplexOpType(OpAsmParser &parser, Type &lhs, Type &rhs,
                               Type &result);
void printComplexOpType(OpAsmPrinter &printer, Operation *op, Type lhs,
                        Type rhs, Type result);

/// `pred, both` or a function type.
ParseResult parseSelectOpType(OpAsmParser &parser, Type &pred, Type &onTrue,
                              Type &onFalse, Type &result);
void printSelectOpType(OpAsmPrinter &printer, Operation *op, Type pred,
                       Type onTrue, Type onFalse, Type result);

ParseResult parseTupleOpType(OpAsmParser &parser,
                             SmallVectorImpl<Type> &operands, Type &result);
void printTupleOpType(OpAsmPrinter &printer, Operation *op, TypeRange operands,
                      Type result);

/// The operands' types, which the results repeat.
ParseResult parsePairwiseOpType(OpAsmParser &parser,
                                SmallVectorImpl<Type> &operands,
                                SmallVectorImpl<Type> &results);
void printPairwiseOpType(OpAsmPrinter &printer, Operation *op,
                         TypeRange operands, TypeRange results);

/// Operands that are followed by an attribute, each with its comma.
ParseResult parseVariadicOperandWithAttribute(
    OpAsmParser &parser,
    SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands);
void printVariadicOperandWithAttribute(OpAsmPrinter &printer, Operation *op,
                                       OperandRange operands);

/// `[start:limit:stride, …]`; a stride of 1 is left out.
ParseResult parseSliceRanges(OpAsmParser &parser, DenseI64ArrayAttr &starts,
                             DenseI64ArrayAttr &limits,
                             DenseI64ArrayAttr &strides);
void printSliceRanges(OpAsmPrinter &printer, Operation *op,
                      ArrayRef<int64_t> starts, ArrayRef<int64_t> limits,
                      ArrayRef<int64_t> strides);

/// `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`.
ParseResult parseConvolutionDimensions(AsmParser &parser,
                                       ConvDimensionNumbersAttr &numbers);
void printConvolutionDimensions(AsmPrinter &printer,
                                ConvDimensionNumbersAttr numbers);
void printConvolutionDimensions(AsmPrinter &printer, Operation *op,
                                ConvDimensionNumbersAttr numbers);

/// `stride = [..], pad = [[..]], lhs_dilate = [..], rhs_dilate = [..],
/// reverse = [..]`, each optional.
ParseResult parseWindowAttributes(OpAsmParser &parser,
                                  DenseI64ArrayAttr &strides,
                                  DenseIntElementsAttr &padding,
                                  DenseI64ArrayAttr &lhsDilation,
                                  DenseI64ArrayAttr &rhsDilation,
                                  DenseBoolArrayAttr &reversal);
void printWindowAttributes(OpAsmPrinter &printer, Operation *op,
                           DenseI64ArrayAttr strides,
                           DenseIntElementsAttr padding,
                           DenseI64ArrayAttr lhsDilation,
                           DenseI64ArrayAttr rhsDilation,
                           DenseBoolArrayAttr reversal);

/// `@target` for a custom call.
ParseResult parseCustomCallTarget(AsmParser &parser, StringAttr &target);
void printCustomCallTarget(AsmPrinter &printer, Operation *op,
                           StringAttr target);

/// `, precision = [HIGH, DEFAULT]`.
ParseResult parsePrecisionConfig(OpAsmParser &parser, ArrayAttr &precision);
void printPrecisionConfig(OpAsmPrinter &printer, Operation *op,
                          ArrayAttr precision);
/// The above, then `, algorithm = <…>`.
ParseResult parsePrecisionConfigAndAlgorithm(OpAsmParser &parser,
                                             ArrayAttr &precision,
                                             DotAlgorithmAttr &algorithm);
void printPrecisionConfigAndAlgorithm(OpAsmPrinter &printer, Operation *op,
                                      ArrayAttr precision,
                                      DotAlgorithmAttr algorithm);

/// `batching_dims = [0] x [0], contracting_dims = [2] x [1]`.
ParseResult parseDotDimensionNumbers(AsmParser &parser,
                                     DotDimensionNumbersAttr &numbers);
void printDotDimensionNumbers(AsmPrinter &printer, Operation *op,
                              DotDimensionNumbersAttr numbers);

/// `e5m10`.
ParseResult parseExponentMantissa(AsmParser &parser, IntegerAttr &exponent,
                                  IntegerAttr &mantissa);
void printExponentMantissa(AsmPrinter &printer, Operation *op,
                           IntegerAttr exponent, IntegerAttr mantissa);

} // namespace mlir::stablehlo
