// The program as it is after a stage, in a form that can be gone on with.

#pragma once

#include "compiler/driver/options.h"

namespace alula::driver {

/// Writes `module` with its record, as text that begins with how to go on, or
/// as bytecode. `file` is what it will be called, `goOnFlags` what going on
/// takes.
void writeStage(mlir::ModuleOp module, Room stage,
                const CompileOptions &options, llvm::StringRef file,
                llvm::raw_ostream &os, llvm::StringRef goOnFlags = "");

} // namespace alula::driver
