// The passes of each room.

#pragma once

#include "compiler/driver/options.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace alula::driver {

/// Nothing for a room that is more than passes.
void addPasses(Room room, mlir::OpPassManager &pm,
               const CompileOptions &options);

/// Says a program of any room up to partition in what portable artifacts hold.
void addPortableForm(mlir::OpPassManager &pm);

/// The passes of a room as text that can be parsed; empty if it has none.
std::string printPipeline(Room room, const CompileOptions &options);

} // namespace alula::driver
