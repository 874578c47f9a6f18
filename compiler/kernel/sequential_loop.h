#pragma once

#include "compiler/kernel/loops.h"

namespace alula::kernel {
class Reader;

/// `Loops::foldRange` as one `scf.for` that is neither tiled nor vectorized.
llvm::SmallVector<mlir::Value>
createSequentialLoop(Reader &reader, mlir::Value lower, mlir::Value upper,
                     mlir::ValueRange initial, Loops::Fold body);

} // namespace alula::kernel
