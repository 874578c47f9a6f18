#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LogicalResult.h"

namespace alula::kernel {

/// Makes room for what imports become: their declarations get another name, to
/// which calls follow.
mlir::LogicalResult beginImports(mlir::ModuleOp bodies);

/// Calls on buffers become calls on pointers; the declarations go.
void endImports(mlir::ModuleOp bodies);

} // namespace alula::kernel
