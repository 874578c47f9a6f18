// The order of the dispatch room.

#include "compiler/dispatch/pipeline.h"

#include "compiler/dispatch/passes.h"
#include "dialect/dispatch/ops.h"

#include "mlir/Pass/PassManager.h"

void alula::dispatch::addDispatchPipeline(mlir::OpPassManager &pm) {
  pm.addPass(createFormKernels());
  pm.addNestedPass<ExecutableOp>(createConvertStablehloToLinalg());
  pm.addPass(createVerifyDispatchOutput());
}
