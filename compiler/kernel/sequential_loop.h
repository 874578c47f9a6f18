#pragma once

#include "compiler/kernel/loops.h"

namespace alula::kernel {
class Reader;

/// `Loops::foldRange` as one `scf.for`, for targets that have nothing better.
llvm::SmallVector<mlir::Value>
createSequentialLoop(Reader &reader, mlir::Value lower, mlir::Value upper,
                     mlir::ValueRange initial, Loops::Fold body);

} // namespace alula::kernel
