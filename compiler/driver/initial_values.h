#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/ArrayRef.h"

namespace alula::driver {

/// The bytes that a global begins with, which live as long as the compilation.
struct InitialValue {
  llvm::StringRef name;
  llvm::ArrayRef<char> bytes;
};

/// Gives globals that the program leaves open their values.
mlir::LogicalResult setInitialValues(mlir::ModuleOp module,
                                     llvm::ArrayRef<InitialValue> values);

} // namespace alula::driver
