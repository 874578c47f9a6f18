// Ops that a plugin wants as one kernel, whatever fusion would do.

#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace alula::plugin {

/// On an op: the name of its unit. All ops of one name become one executable of
/// that name, and nothing is fused with it.
constexpr llvm::StringLiteral unitAttributeName = "dispatch.unit";

/// Outlines the units of all functions. An error [plug-stage] names what can't
/// be one kernel.
mlir::LogicalResult outlineUnits(mlir::ModuleOp module);

} // namespace alula::plugin
