#pragma once

#include "dialect/sdy/dialect.h"

namespace mlir::sdy {

/// The rule has a mapping for each operand and result of `op`, and the factors
/// fit their shapes and each other.
llvm::LogicalResult verifyShardingRule(OpShardingRuleAttr rule, Operation *op);

/// The trace names operands and results that `op` has and axes of their mesh.
llvm::LogicalResult verifyPropagationEdges(PropagationEdgesAttr edges,
                                           Operation *op);

} // namespace mlir::sdy
