#pragma once

#include "compiler/input/result_shapes.h"

#include "mlir/IR/PatternMatch.h"

namespace alula::input {

/// Replaces an op that takes shapes as operands by the op that has them as
/// attributes or in its type, if they are known; the new op, or null.
/// Custom calls with shape operands lose them.
mlir::Operation *replaceByStaticForm(mlir::Operation *op, KnownValue known,
                                     mlir::IRRewriter &rewriter);

} // namespace alula::input
