#pragma once

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace alula::dispatch {

/// StableHLO on static tensors, without calls → host functions that launch
/// executables with linalg bodies.
void addDispatchPipeline(mlir::OpPassManager &pm);

} // namespace alula::dispatch
