#pragma once

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace alula::kernel {

/// A plan for each kernel of tensors.
void addPlanPipeline(mlir::OpPassManager &pm);

} // namespace alula::kernel
