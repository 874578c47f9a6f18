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

/// How the factor with this index is written: i, j, … z, z_1, z_2, …
std::string getFactorName(int64_t index);

} // namespace mlir::sdy
