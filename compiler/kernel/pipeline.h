#pragma once

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace alula::kernel {

/// For `dispatch.executable`: bodies in StableHLO → loops over buffers,
/// temporaries in scratch.
void addKernelPipeline(mlir::OpPassManager &pm);

} // namespace alula::kernel
