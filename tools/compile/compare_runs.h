#pragma once

#include "compiler/preprocess/plan.h"

#include "mlir/IR/BuiltinOps.h"

namespace alula::tools {

/// Compiles two programs that the dispatch room has left for this machine, and
/// for the GPUs among `targets`, runs "main" of both on the same random
/// numbers, and says how the results differ.
preprocess::Compared compareRuns(mlir::ModuleOp before, mlir::ModuleOp after,
                                 llvm::ArrayRef<std::string> targets);

} // namespace alula::tools
