// The module that tools get and answer with.

#pragma once

#include "compiler/preprocess/contract.h"
#include "compiler/preprocess/problem.h"
#include "dialect/dispatch/ops.h"

#include "mlir/IR/OwningOpRef.h"

#include <string>
#include <variant>

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

/// What a tool has printed, checked in a context of its own and then read into
/// `context`. Null if it is what `input` is.
std::variant<Problem, mlir::OwningOpRef<mlir::ModuleOp>>
readReply(llvm::StringRef reply, mlir::ModuleOp input, const Contract &contract,
          mlir::MLIRContext *context);

} // namespace alula::preprocess
