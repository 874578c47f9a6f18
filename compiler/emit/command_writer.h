#pragma once

#include "artifact/writer.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

#include <functional>

namespace alula::emit {

/// A kernel or a function of the artifact, and what its uses need to know.
struct Callables {
  struct Kernel {
    uint32_t number;
    llvm::ArrayRef<int64_t> grid;
  };
  llvm::DenseMap<mlir::Attribute, Kernel> kernels;
  llvm::DenseMap<mlir::StringAttr, uint32_t> functions;
  llvm::DenseMap<mlir::StringAttr, uint32_t> globals;
  /// The number of a type, or nothing after a diagnostic.
  std::function<llvm::FailureOr<uint32_t>(mlir::Location, mlir::Type)> addType;
};

/// Writes the commands of a scheduled host function.
mlir::LogicalResult writeCommands(mlir::func::FuncOp function,
                                  const Callables &callables,
                                  artifact::ArtifactWriter &file,
                                  artifact::FunctionWriter &out);

} // namespace alula::emit
