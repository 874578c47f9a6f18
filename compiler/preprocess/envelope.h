// The module that tools get and answer with.

#pragma once

#include "compiler/preprocess/contract.h"
#include "compiler/preprocess/problem.h"
#include "dialect/dispatch/ops.h"

#include "mlir/IR/OwningOpRef.h"

#include <string>

namespace alula::preprocess {

constexpr int64_t protocol = 1;

/// A module with a copy of `executable`, public, and nothing else.
mlir::OwningOpRef<mlir::ModuleOp> wrap(dispatch::ExecutableOp executable);

/// The executable of an envelope; null if there is none or several.
dispatch::ExecutableOp unwrap(mlir::ModuleOp envelope);

/// All of an envelope, with locations and data.
std::string serialize(mlir::ModuleOp envelope, bool bytecode);

/// Checks what a pipeline has made.
std::optional<Problem> checkEnvelope(mlir::ModuleOp envelope,
                                     const Contract &contract);

/// What a tool was given, in both forms.
struct Given {
  std::string text, bytecode;
};
Given give(mlir::ModuleOp envelope);

/// What a tool's answer comes to.
struct Reply {
  std::optional<Problem> problem;
  /// The new envelope as bytecode; empty if nothing has changed, or if the
  /// problem is one that nobody may let pass.
  std::string bytes;
};

/// Checks what a tool has printed, in a context of its own: several threads may
/// do so at once.
Reply checkReply(llvm::StringRef reply, const Given &given,
                 const Contract &contract,
                 const mlir::DialectRegistry &registry);
/// What has been checked; null if it can't be read a second time.
mlir::OwningOpRef<mlir::ModuleOp> readChecked(llvm::StringRef bytes,
                                              mlir::MLIRContext *context,
                                              llvm::StringRef name);

} // namespace alula::preprocess
