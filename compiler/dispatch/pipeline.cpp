// The order of the dispatch room.

#include "compiler/dispatch/pipeline.h"

#include "compiler/dispatch/passes.h"

#include "mlir/Pass/PassManager.h"

void alula::dispatch::addDispatchPipeline(mlir::OpPassManager &pm) {
  pm.addPass(createFormKernels());
  pm.addPass(createVerifyDispatchOutput());
}
