#pragma once

#include "mlir/IR/OpImplementation.h"

namespace mlir::stablehlo {

/// `name = [1, 2]` or `name = 1`, an entry of a dimension numbers attribute.
struct StructField {
  StructField(StringRef name, SmallVector<int64_t> &dims)
      : name(name), dims(&dims) {}
  StructField(StringRef name, int64_t &number) : name(name), number(&number) {}

  StringRef name;
  SmallVector<int64_t> *dims = nullptr;
  int64_t *number = nullptr;
};

/// Parses entries in any order up to and including the closing `>`. What does
/// not appear stays as it is.
ParseResult parseStruct(AsmParser &parser, ArrayRef<StructField> fields);

/// Prints entries one after the other; an empty list or a zero is left out,
/// as the parser's starting values say the same.
class StructPrinter {
public:
  explicit StructPrinter(AsmPrinter &printer) : printer(printer) {}

  StructPrinter &print(StringRef name, ArrayRef<int64_t> dims);
  StructPrinter &print(StringRef name, int64_t number);

private:
  void printName(StringRef name);

  AsmPrinter &printer;
  bool isFirst = true;
};

} // namespace mlir::stablehlo
