#pragma once

#include "mlir/IR/Block.h"
#include "llvm/ADT/DenseSet.h"

namespace alula::kernel {

/// Element i of the result needs element i of each operand of its shape.
bool keepsIndices(mlir::Operation *op);

/// Elements are computed by recursion over what they are made of.
constexpr unsigned maxInlineDepth = 256;

/// The ops of a block that have no memory: whoever reads an element of them
/// computes it. No element is computed twice, unless that is next to nothing.
llvm::DenseSet<mlir::Operation *> planInlining(mlir::Block &block);

} // namespace alula::kernel
