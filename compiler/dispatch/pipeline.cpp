// The order of the dispatch room.

#include "compiler/dispatch/pipeline.h"

#include "compiler/dispatch/passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

void alula::dispatch::addDispatchPipeline(mlir::OpPassManager &pm,
                                          const PipelineOptions &options) {
  // Before ops of one function are spread over kernels.
  pm.addPass(createNumberRandomStreams());
  pm.addPass(createLimitSorts());
  pm.addPass(createRepeatBroadcasts());
  pm.addPass(createSplitConcatenations());
  pm.addPass(createSumProducts());
  pm.addPass(createTurnProducts());
  // Before constants are packed in the order of the sums.
  pm.addPass(createOrderTerms());
  if (options.packWeights)
    pm.addPass(createPackWeights());
  pm.addPass(createFormKernels());
  // Kernels whose results were only asked for their sizes.
  pm.addPass(mlir::createSymbolDCEPass());
  pm.addPass(createShareKernels());
  pm.addPass(createVerifyDispatchOutput());
}
