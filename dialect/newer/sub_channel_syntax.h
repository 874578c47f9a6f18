#pragma once

#include "dialect/newer/types.h"

namespace mlir {
class DialectAsmParser;
class DialectAsmPrinter;
} // namespace mlir

namespace alula::newer {

/// Reads `qsubchannel<…>` or `uniform<…>`, the stand-ins for a
/// `!quant.uniform<…>` with block sizes.
mlir::Type parseSubChannel(mlir::DialectAsmParser &parser);

void printSubChannel(SubChannelQuantizedType type,
                     mlir::DialectAsmPrinter &printer);

} // namespace alula::newer
