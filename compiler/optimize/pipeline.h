#pragma once

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace alula::optimize {

/// Legal StableHLO → the same program, less work.
void addOptimizePipeline(mlir::OpPassManager &pm);

} // namespace alula::optimize
