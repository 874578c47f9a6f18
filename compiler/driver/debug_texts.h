// What kernels were on their way, inside the artifact: --debug=3. Locations of
// a kernel's ops, and so the lines of its code, are lines of these texts.

#pragma once

#include "compiler/driver/options.h"

namespace alula::driver {

/// Before the stage `next`: keeps the text of each executable that has none of
/// this stage yet, and lets its ops be at its lines.
void keepTexts(mlir::ModuleOp module, Room next, const CompileOptions &options);

/// Keeps what an executable is for one machine.
void keepText(mlir::ModuleOp module, llvm::StringRef executable,
              const llvm::Twine &ending, llvm::StringRef text);

} // namespace alula::driver
