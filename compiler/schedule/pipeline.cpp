// The order of the schedule room.

#include "compiler/schedule/pipeline.h"

#include "compiler/schedule/passes.h"

#include "mlir/Pass/PassManager.h"

void alula::schedule::addSchedulePipeline(mlir::OpPassManager &pm) {
  pm.addNestedPass<mlir::func::FuncOp>(createAssignPlaces());
}
