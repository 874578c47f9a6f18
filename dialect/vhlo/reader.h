#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace alula::vhlo {

/// Whether `bytes` are a StableHLO portable artifact, perhaps a damaged one:
/// MLIR bytecode whose producer is StableHLO of some version, or that has vhlo
/// operations.
bool isPortableArtifact(llvm::StringRef bytes);

/// Reads a portable artifact of any version up to the current one into
/// StableHLO and func operations, and verifies them unless told not to.
/// Anything wrong is a diagnostic that says where and what; the result is null
/// then. `name` stands for the artifact in diagnostics. Memory is bounded by
/// the size of the input, and no input makes it crash or recurse without end.
mlir::OwningOpRef<mlir::ModuleOp> readPortable(llvm::StringRef bytes,
                                               mlir::MLIRContext *context,
                                               llvm::StringRef name = "",
                                               bool verifyAfterRead = true);

} // namespace alula::vhlo
