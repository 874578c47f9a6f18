#pragma once

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace alula::cpu {

/// Kernels of machines of kind "cpu", and of programs that name none.
void registerCpuKernels(mlir::DialectRegistry &registry);

} // namespace alula::cpu
