#pragma once

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace alula::kernel {

/// Bodies of executables in StableHLO → loop nests over buffers; temporaries in
/// scratch, or, if their size depends on the call, in results of the launch.
void addKernelPipeline(mlir::OpPassManager &pm);

} // namespace alula::kernel
