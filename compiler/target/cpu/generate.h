#pragma once

#include "compiler/target/cpu/machine.h"

#include "mlir/IR/BuiltinOps.h"

namespace alula::cpu {

/// Adds a `dispatch.variant` with machine code for every executable of
/// `module`. The executables stay as they are, for the next machine.
mlir::LogicalResult generateVariant(mlir::ModuleOp module,
                                    const Machine &machine);

} // namespace alula::cpu
