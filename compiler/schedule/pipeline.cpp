// The order of the schedule room.

#include "compiler/schedule/pipeline.h"

#include "compiler/schedule/passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

void alula::schedule::addSchedulePipeline(mlir::OpPassManager &pm) {
  pm.addPass(createSplitCollectives());
  pm.addPass(createRunTogether());
  pm.addPass(createConvertTensorsToCommands());
  // Sizes are computed once: commands themselves are never equal.
  pm.addNestedPass<mlir::func::FuncOp>(mlir::createCSEPass());
  pm.addPass(createVerifyScheduleOutput());
}
