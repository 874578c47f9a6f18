#pragma once

#include "compiler/preprocess/plan.h"

#include "mlir/IR/BuiltinOps.h"

#include <functional>

namespace alula::preprocess {

/// Takes the executables of `module` that the plan chooses through its steps,
/// each by itself, and replaces those that come back changed: all of them or,
/// if anything fails, none. Says whether there were any.
mlir::LogicalResult
preprocessExecutables(mlir::ModuleOp module, const Plan &plan,
                      const std::function<bool()> &isCancelled = nullptr,
                      bool *hasChanged = nullptr);

} // namespace alula::preprocess
