// The order of the kernel room.

#include "compiler/kernel/pipeline.h"

#include "compiler/kernel/passes.h"

#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

void alula::kernel::addKernelPipeline(mlir::OpPassManager &pm) {
  pm.addPass(mlir::createLinalgElementwiseOpFusionPass());
  // Fusion leaves dead operands behind, which would become buffers.
  pm.addPass(mlir::createCanonicalizerPass());
  pm.addPass(mlir::createCSEPass());
  pm.addPass(createBufferize());
  pm.addPass(mlir::createConvertLinalgToLoopsPass());
  pm.addPass(createAssignScratch());
  pm.addPass(mlir::createCanonicalizerPass());
  pm.addPass(mlir::createCSEPass());
}
