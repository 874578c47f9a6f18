#pragma once

#include "mlir/IR/PatternMatch.h"

namespace alula::optimize {

/// Slices and reversals of what is put together of pieces are those of the
/// pieces.
void addPiecePatterns(mlir::RewritePatternSet &patterns);

} // namespace alula::optimize
