#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace alula::tools {

/// Compiles two programs that the dispatch room has left for this machine, runs
/// "main" of both on the same random numbers, and says how the results differ.
std::string compareRuns(mlir::ModuleOp before, mlir::ModuleOp after);

} // namespace alula::tools
