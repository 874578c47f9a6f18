// The order of the kernel room.

#include "compiler/kernel/pipeline.h"

#include "compiler/kernel/passes.h"
#include "compiler/kernel/plan/passes.h"
#include "dialect/dispatch/ops.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

void alula::kernel::addKernelPipeline(mlir::OpPassManager &pm) {
  mlir::OpPassManager &executables = pm.nest<dispatch::ExecutableOp>();
  executables.addPass(createVerifyPlans());
  executables.addPass(createConvertStablehloToLoops());
  executables.addPass(createCanonicalize());
  executables.addPass(mlir::createCSEPass());
  pm.addPass(createHoistConstants());
  pm.addPass(createFormLaunches());
  pm.addPass(createSplitSteps());
  pm.addPass(createDistribute());
  pm.addPass(createPlaceTemporaries());
  pm.nest<dispatch::ExecutableOp>().addPass(createAssignScratch());
  pm.nest<dispatch::ExecutableOp>().addPass(createVerifyKernelOutput());
}
