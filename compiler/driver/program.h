#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace llvm {
class MemoryBuffer;
} // namespace llvm

namespace alula::driver {

/// Reads a program in any form that JAX, torch or a file may hand over: MLIR
/// text, MLIR bytecode, a portable artifact. Takes the buffer, so that
/// diagnostics can quote the line. Null after a diagnostic.
mlir::OwningOpRef<mlir::ModuleOp>
readProgram(std::unique_ptr<llvm::MemoryBuffer> buffer,
            mlir::MLIRContext *context, bool verify = true);

} // namespace alula::driver
