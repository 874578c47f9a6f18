// Artifacts that were made before, in a folder that processes share.

#pragma once

#include "compiler/driver/compile.h"

namespace alula::driver {

/// What a program is read from, beside the options: its bytes, initial values.
using Sources = llvm::ArrayRef<llvm::StringRef>;

/// As `compile`, or, with `options.cache`, what that made of the same sources
/// with the same options by the same compiler. What can't be cached, and a
/// folder that can't be used, is a warning, and compiled.
mlir::LogicalResult compileOrRecall(mlir::ModuleOp module, Sources sources,
                                    const CompileOptions &options,
                                    CompileOutput &output);

} // namespace alula::driver
