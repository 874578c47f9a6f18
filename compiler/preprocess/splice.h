#pragma once

#include "compiler/preprocess/contract.h"

#include "mlir/IR/BuiltinOps.h"

namespace alula::preprocess {

/// Makes an executable that has been checked what our own rooms take: kernels
/// have no calls.
mlir::LogicalResult finishBodies(mlir::ModuleOp envelope);

/// Puts the executable of `envelope` in the place of `original` and has the
/// host compute what it asks for. Can't fail.
void splice(dispatch::ExecutableOp original, const Contract &contract,
            mlir::ModuleOp envelope);

/// What the program relies on of one of its executables, launches included.
Contract readContractInProgram(dispatch::ExecutableOp executable);

/// By entry, of the module around `executable`.
std::map<std::string, llvm::SmallVector<dispatch::LaunchOp>>
findLaunches(dispatch::ExecutableOp executable);

} // namespace alula::preprocess
