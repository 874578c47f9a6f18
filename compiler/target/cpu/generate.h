#pragma once

#include "compiler/target/cpu/codegen_hooks.h"
#include "compiler/target/cpu/machine.h"

#include "mlir/IR/BuiltinOps.h"

namespace alula::cpu {

/// Adds a `dispatch.variant` with machine code for every executable of
/// `module`. The executables stay as they are, for the next machine.
mlir::LogicalResult generateVariant(mlir::ModuleOp module,
                                    const Machine &machine,
                                    const CodegenHooks &hooks = {});

} // namespace alula::cpu
