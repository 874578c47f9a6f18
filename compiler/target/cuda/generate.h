#pragma once

#include "compiler/target/cpu/machine.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LogicalResult.h"

#include <functional>
#include <string>
#include <vector>

namespace alula::cuda {

/// What somebody wants to know of the code generator.
struct CodegenHooks {
  std::function<bool()> isCancelled;
  /// A kernel's turn has come: its name, how many were before, of how many.
  std::function<void(llvm::StringRef kernel, unsigned done, unsigned total)>
      onKernel;
  bool verifyPasses = false;
  /// Chips that machine code is made for too, where a target can be run by
  /// them, and the ptxas that makes it.
  std::vector<std::string> cubinChips;
  std::string ptxas;
};

/// Whether code for machine `name` ("sm_80") can be made into code of a chip.
bool canMakeCubin(llvm::StringRef name, llvm::StringRef chip);

/// Adds a `dispatch.variant` with PTX of every executable: what it has brought,
/// else ours.
mlir::LogicalResult generateVariant(mlir::ModuleOp module,
                                    const cpu::Machine &machine,
                                    const CodegenHooks &hooks);

} // namespace alula::cuda
