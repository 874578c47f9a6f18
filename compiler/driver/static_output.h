// The end of the rooms for code that needs no runtime: --emit=static.

#pragma once

#include "compiler/driver/options.h"
#include "compiler/driver/output_file.h"

namespace alula::driver {

/// An archive, a header and a manifest of a scheduled program.
mlir::LogicalResult
emitStatic(mlir::ModuleOp module, const CompileOptions &options,
           const std::string &description,
           std::function<void(llvm::StringRef, unsigned, unsigned)> onKernel,
           std::vector<OutputFile> &files);

} // namespace alula::driver
