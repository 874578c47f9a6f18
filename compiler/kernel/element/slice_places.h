#pragma once

#include "mlir/IR/Operation.h"

// Where the elements of slices and padded tensors are, for whoever reads and
// for whoever writes them.

namespace alula::kernel {
class Reader;

/// Where a slice of `sizes` begins that must lie inside `operand`.
llvm::SmallVector<mlir::Value> getStarts(Reader &reader, mlir::Value operand,
                                         mlir::ValueRange starts,
                                         llvm::ArrayRef<mlir::Value> sizes);

llvm::SmallVector<mlir::Value>
addEach(Reader &reader, llvm::ArrayRef<mlir::Value> a, mlir::ValueRange b);

/// Low edge and step between elements, of pad and dynamic_pad.
struct Padding {
  mlir::Value low, step;
};

Padding getPadding(Reader &reader, mlir::Operation *op, size_t dim);

} // namespace alula::kernel
