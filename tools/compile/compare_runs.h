#pragma once

#include "compiler/preprocess/plan.h"

#include "mlir/IR/BuiltinOps.h"

namespace alula::tools {

/// Compiles two programs that the dispatch room has left for this machine, and
/// for the GPUs among `targets`, runs "main" of both on the same random
/// numbers, and says how the results differ. GPUs may take so many seconds; 0:
/// as long as they want.
preprocess::Compared compareRuns(mlir::ModuleOp before, mlir::ModuleOp after,
                                 llvm::ArrayRef<std::string> targets,
                                 double seconds);

} // namespace alula::tools
