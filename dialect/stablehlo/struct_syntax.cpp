// `name = value` lists, the body of #stablehlo.gather<…> and its like.

#include "dialect/stablehlo/struct_syntax.h"

#include "dialect/stablehlo/assembly.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::stablehlo;

ParseResult stablehlo::parseStruct(AsmParser &parser,
                                   ArrayRef<StructField> fields) {
  SmallVector<bool> seen(fields.size(), false);
  SmallVector<StringRef> names;
  for (const StructField &field : fields)
    names.push_back(field.name);
  while (failed(parser.parseOptionalGreater())) {
    SMLoc location = parser.getCurrentLocation();
    StringRef name;
    if (failed(parser.parseOptionalKeyword(&name, names)))
      return parser.emitError(location)
             << "expected one of " << llvm::join(names, ", ");
    size_t index = llvm::find(names, name) - names.begin();
    if (std::exchange(seen[index], true))
      return parser.emitError(location) << name << " is given twice";
    if (parser.parseEqual())
      return failure();
    const StructField &field = fields[index];
    if (field.dims) {
      FailureOr<SmallVector<int64_t>> dims = parseBracketedDims(parser);
      if (failed(dims))
        return failure();
      *field.dims = std::move(*dims);
    } else if (parser.parseInteger(*field.number)) {
      return failure();
    }
    if (failed(parser.parseOptionalComma()))
      return parser.parseGreater();
  }
  return success();
}

void StructPrinter::printName(StringRef name) {
  if (!std::exchange(isFirst, false))
    printer << ", ";
  printer << name << " = ";
}

StructPrinter &StructPrinter::print(StringRef name, ArrayRef<int64_t> dims) {
  if (dims.empty())
    return *this;
  printName(name);
  printBracketedDims(printer, dims);
  return *this;
}

StructPrinter &StructPrinter::print(StringRef name, int64_t number) {
  if (number == 0)
    return *this;
  printName(name);
  printer << number;
  return *this;
}
