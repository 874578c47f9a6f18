#pragma once

#include "mlir/IR/DialectRegistry.h"

namespace alula::cuda {

/// Kernels of machines of kind "cuda".
void registerCudaKernels(mlir::DialectRegistry &registry);

} // namespace alula::cuda
