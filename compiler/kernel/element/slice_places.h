#pragma once

#include "mlir/IR/Operation.h"

#include <optional>

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

/// What an index is surely in: [first, second), if that follows from constants
/// and the loop that it is a variable of.
std::optional<std::pair<int64_t, int64_t>> getKnownRange(mlir::Value index);

Padding getPadding(Reader &reader, mlir::Operation *op, size_t dim);

} // namespace alula::kernel
