#pragma once

#include "mlir/IR/PatternMatch.h"

namespace alula::input {

/// Replaces an einsum or unary_einsum of static shape.
mlir::LogicalResult lowerEinsum(mlir::Operation *op,
                                mlir::IRRewriter &rewriter);

} // namespace alula::input
