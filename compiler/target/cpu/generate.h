#pragma once

#include "compiler/target/cpu/machine.h"

#include "mlir/IR/BuiltinOps.h"

#include <functional>

namespace alula::cpu {

/// What a caller may know of, and how it ends it. Both may be empty.
struct CodegenHooks {
  /// Asked between kernels and between LLVM's passes.
  std::function<bool()> isCancelled;
  /// Before each kernel.
  std::function<void(llvm::StringRef kernel, unsigned done, unsigned total)>
      onKernel;
};

/// Adds a `dispatch.variant` with machine code for every executable of
/// `module`. The executables stay as they are, for the next machine.
mlir::LogicalResult generateVariant(mlir::ModuleOp module,
                                    const Machine &machine,
                                    const CodegenHooks &hooks = {});

} // namespace alula::cpu
