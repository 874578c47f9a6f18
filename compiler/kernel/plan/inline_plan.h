#pragma once

#include "mlir/IR/Block.h"
#include "llvm/ADT/DenseSet.h"

namespace alula::kernel {

/// Elements are computed by recursion over what they are made of.
constexpr unsigned maxInlineDepth = 256;

/// The ops of a block that have no memory: whoever reads an element of them
/// computes it. No element is computed twice, unless that is next to nothing.
llvm::DenseSet<mlir::Operation *> planInlining(mlir::Block &block);

} // namespace alula::kernel
