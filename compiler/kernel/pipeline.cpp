// The order of the kernel room.

#include "compiler/kernel/pipeline.h"

#include "compiler/kernel/passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

void alula::kernel::addKernelPipeline(mlir::OpPassManager &pm) {
  pm.addPass(createConvertStablehloToLoops());
  pm.addPass(mlir::createCanonicalizerPass());
  pm.addPass(mlir::createCSEPass());
  pm.addPass(createDistribute());
  pm.addPass(createAssignScratch());
}
