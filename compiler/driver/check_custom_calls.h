#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace alula::driver {

/// Fails at each custom call that neither the compiler lowers itself nor the
/// embedder has announced, and at ops that need somebody to talk to.
mlir::LogicalResult checkCustomCalls(mlir::ModuleOp module,
                                     llvm::ArrayRef<std::string> announced);

} // namespace alula::driver
