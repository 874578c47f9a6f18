#pragma once

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace alula::kernel {

/// Bodies of executables in StableHLO → loops over buffers, temporaries in
/// scratch, or where only the host knows their size, in results of the launch.
void addKernelPipeline(mlir::OpPassManager &pm);

} // namespace alula::kernel
