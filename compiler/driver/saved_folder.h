#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace alula::driver {

/// A program as torch_xla saves it: a folder with the program, what its
/// arguments are, and arrays. Those that are weights become constants, which
/// are named as they are in torch; the others are in the order of the model's
/// own arguments. Null after a diagnostic.
mlir::OwningOpRef<mlir::ModuleOp> readSavedFolder(llvm::StringRef folder,
                                                  mlir::MLIRContext *context);

/// Of all its files and their names.
uint64_t hashSavedFolder(llvm::StringRef folder);

} // namespace alula::driver
