#pragma once

#include "mlir/IR/Attributes.h"

namespace mlir {
class DialectAsmParser;
class DialectAsmPrinter;
} // namespace mlir

namespace alula::newer {

class BridgedFloatAttr;
class BridgedFloatType;
class DenseBridgedAttr;

/// Reads `dn<…>` or `dense<…>`, the stand-in for a `dense<…>` that MLIR 19
/// would refuse: its element type is bridged, or it is i1 and given as hex
/// with one byte an element (then the result is an ordinary attribute).
mlir::Attribute parseDenseLiteral(mlir::DialectAsmParser &parser,
                                  mlir::Type type);

/// Writes `dense<…>` as a newer MLIR does, without the type.
void printDenseLiteral(DenseBridgedAttr attribute,
                       mlir::DialectAsmPrinter &printer);

/// Reads `…<1.0>`, the stand-in for `1.0 : f8E3M4`.
mlir::Attribute parseNumber(mlir::DialectAsmParser &parser,
                            BridgedFloatType type);

/// Writes `number<1.0>`, without the type.
void printNumber(BridgedFloatAttr attribute, mlir::DialectAsmPrinter &printer);

} // namespace alula::newer
