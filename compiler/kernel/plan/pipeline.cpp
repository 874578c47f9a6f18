#include "compiler/kernel/plan/pipeline.h"

#include "compiler/kernel/plan/passes.h"

#include "mlir/Pass/PassManager.h"

void alula::kernel::addPlanPipeline(mlir::OpPassManager &pm) {
  pm.nest<dispatch::ExecutableOp>().addPass(createAssignPlans());
}
