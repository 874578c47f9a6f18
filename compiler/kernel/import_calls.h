#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LogicalResult.h"

namespace alula::kernel {

/// Renames the declarations of imports and the callees of their calls, so that
/// their names are free for what they are lowered to.
mlir::LogicalResult beginImports(mlir::ModuleOp bodies);

/// Lowers calls on buffers to calls on pointers; erases the declarations.
void endImports(mlir::ModuleOp bodies);

} // namespace alula::kernel
