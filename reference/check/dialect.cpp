#include "reference/check/dialect.h"

#include "dialect/newer/attributes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace {

/// The second operand's type is written only where it differs.
ParseResult parseSameOrTwoTypes(OpAsmParser &parser, Type &first,
                                Type &second) {
  if (parser.parseType(first))
    return failure();
  second = first;
  if (succeeded(parser.parseOptionalComma()))
    return parser.parseType(second);
  return success();
}

void printSameOrTwoTypes(OpAsmPrinter &printer, Operation *, Type first,
                         Type second) {
  printer << first;
  if (first != second)
    printer << ", " << second;
}

ParseResult parseSameType(OpAsmParser &parser, Type &operand, Type &result) {
  if (parser.parseType(operand))
    return failure();
  result = operand;
  return success();
}

void printSameType(OpAsmPrinter &printer, Operation *, Type operand, Type) {
  printer << operand;
}

/// A constant whose type is that of the operand too.
ParseResult parseConstant(OpAsmParser &parser, ElementsAttr &value,
                          Type &type) {
  Attribute attribute;
  llvm::SMLoc at = parser.getCurrentLocation();
  if (parser.parseAttribute(attribute))
    return failure();
  value = dyn_cast<ElementsAttr>(attribute);
  if (!value)
    return parser.emitError(at) << "expected an elements attribute";
  type = value.getType();
  return success();
}

void printConstant(OpAsmPrinter &printer, Operation *, ElementsAttr value,
                   Type) {
  printer << value;
}

} // namespace

#include "reference/check/check_dialect.cpp.inc"
#include "reference/check/interpreter_dialect.cpp.inc"

#define GET_OP_CLASSES
#include "reference/check/check_ops.cpp.inc"

#define GET_OP_CLASSES
#include "reference/check/interpreter_ops.cpp.inc"

namespace alula::reference::check {

void CheckDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "reference/check/check_ops.cpp.inc"
      >();
}

} // namespace alula::reference::check

namespace alula::reference::interpreter {

void InterpreterDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "reference/check/interpreter_ops.cpp.inc"
      >();
}

LogicalResult RunParallelOp::verify() {
  if (getPrograms().empty())
    return emitOpError() << "`programs` attribute cannot be empty";
  size_t columns = 0, inputs = 0, results = 0;
  auto module = (*this)->getParentOfType<ModuleOp>();
  auto find = [&](Attribute attribute) -> func::FuncOp {
    auto symbol = dyn_cast<FlatSymbolRefAttr>(attribute);
    if (!symbol) {
      emitOpError() << "programs and infeeds must be function names";
      return {};
    }
    auto function = module.lookupSymbol<func::FuncOp>(symbol.getValue());
    if (!function)
      emitOpError() << "Function " << symbol.getAttr() << " not found";
    return function;
  };
  for (auto [k, row] : llvm::enumerate(getPrograms())) {
    auto programs = dyn_cast<ArrayAttr>(row);
    if (!programs)
      return emitOpError() << "`programs` must be a list of lists";
    if (k == 0)
      columns = programs.size();
    if (columns == 0)
      return emitOpError()
             << "Length of second dimension of `programs` must be positive";
    if (programs.size() != columns)
      return emitOpError() << "Sizes of second dimension of `programs` should "
                              "all match "
                           << columns << " but got " << programs.size();
    for (Attribute program : programs) {
      func::FuncOp function = find(program);
      if (!function)
        return failure();
      inputs += function.getNumArguments();
      results += function.getNumResults();
    }
  }
  if (getInputs().size() != inputs)
    return emitOpError() << "Number of inputs (" << getInputs().size()
                         << ") should match the sum of the number of inputs "
                            "of all programs ("
                         << inputs << ")";
  if (getResults().size() != results)
    return emitOpError() << "Number of results (" << getResults().size()
                         << ") should match the sum of the number of results "
                            "of all programs ("
                         << results << ")";
  if (std::optional<ArrayAttr> infeed = getInfeed()) {
    if (infeed->empty())
      return emitOpError() << "infeed attribute is optional or cannot be empty";
    for (Attribute source : *infeed) {
      func::FuncOp function = find(source);
      if (!function)
        return failure();
      if (function.getNumArguments() != 0)
        return emitOpError() << "Function " << source
                             << " should take no arguments but takes "
                             << function.getNumArguments();
    }
  }
  return success();
}

} // namespace alula::reference::interpreter
