#pragma once

#include "compiler/driver/options.h"

namespace alula::driver {

/// Executables that flags replace by objects, with the files read.
mlir::LogicalResult substituteObjects(mlir::ModuleOp module,
                                      const CompileOptions &options);

/// The same at the end of the kernel room, for objects of our own.
mlir::LogicalResult substituteOwnObjects(mlir::ModuleOp module,
                                         const CompileOptions &options);

/// Reads what tools have named, and checks all objects for all targets.
mlir::LogicalResult prepareObjects(mlir::ModuleOp module,
                                   const CompileOptions &options);

} // namespace alula::driver
