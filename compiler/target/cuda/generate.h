#pragma once

#include "compiler/target/cpu/machine.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LogicalResult.h"

#include <functional>

namespace alula::cuda {

/// What somebody wants to know of the code generator.
struct CodegenHooks {
  std::function<bool()> isCancelled;
  /// A kernel's turn has come: its name, how many were before, of how many.
  std::function<void(llvm::StringRef kernel, unsigned done, unsigned total)>
      onKernel;
  bool verifyPasses = false;
};

/// Adds a `dispatch.variant` with PTX of every executable: what it has brought,
/// else ours.
mlir::LogicalResult generateVariant(mlir::ModuleOp module,
                                    const cpu::Machine &machine,
                                    const CodegenHooks &hooks);

} // namespace alula::cuda
