#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <functional>

namespace alula::reduce {

/// A smaller version of `module`, which `isInteresting`, that still is: ops
/// become one of their operands or zeros, results and functions go. What is
/// asked about always verifies.
mlir::OwningOpRef<mlir::ModuleOp>
reduceProgram(mlir::OwningOpRef<mlir::ModuleOp> module,
              const std::function<bool(mlir::ModuleOp)> &isInteresting);

} // namespace alula::reduce
