#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dialect.h"

#include <optional>
#include <string>

#include "dialect/sdy/dialect.h.inc"
#include "dialect/sdy/enums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/sdy/attributes.h.inc"

namespace mlir::sdy {

/// On arguments and results of functions a TensorShardingAttr, on ops a
/// TensorShardingPerValueAttr for their results.
inline constexpr llvm::StringLiteral shardingAttrName = "sdy.sharding";
/// An OpShardingRuleAttr on any op.
inline constexpr llvm::StringLiteral shardingRuleAttrName = "sdy.sharding_rule";
/// A PropagationEdgesAttr on any op.
inline constexpr llvm::StringLiteral propagationEdgesAttrName =
    "sdy.propagation_edges";
/// Arrays of PropagationEdgesAttr, one for each result or block argument.
inline constexpr llvm::StringLiteral resultPropagationEdgesAttrName =
    "sdy.result_propagation_edges";
inline constexpr llvm::StringLiteral blockArgPropagationEdgesAttrName =
    "sdy.block_arg_propagation_edges";

/// How the factor with this index is written: i, j, … z, z_1, z_2, …
std::string getFactorName(int64_t index);

} // namespace mlir::sdy
