#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace alula::driver {

struct CompileOptions;

/// Says on the module what machine it is compiled for, if it doesn't yet: what
/// the CPUs of `options.targets` have in common, or the portable one if there
/// are none. Targets of plugins and objects for GPUs go along with it.
mlir::LogicalResult assignMachine(mlir::ModuleOp module,
                                  const CompileOptions &options);

/// Says the same of a module that holds a part of `whole`.
void copyMachine(mlir::ModuleOp whole, mlir::ModuleOp part);

} // namespace alula::driver
