// The order of the optimize room.

#include "compiler/optimize/pipeline.h"

#include "compiler/optimize/passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

void alula::optimize::addOptimizePipeline(mlir::OpPassManager &pm,
                                          const PipelineOptions &options) {
  // Values that a loop only carries are constants of it, and conditions known.
  pm.addPass(createSimplifyControl());
  pm.addPass(createUnrollLoops());
  // Some become products.
  pm.addPass(createSimplifyConvolutions());
  pm.addPass(createSimplifyProducts());
  // Moved constants are constants: before folding there are fewer to move.
  pm.addPass(createSimplifyMovement());
  // Before what is made of constants is computed.
  pm.addPass(createNarrowProducts());
  // Operands are as the kernels will find them, weights not yet constants.
  pm.addPass(createRoundProducts(
      {options.bf16Products, options.tf32Products, options.byteActivations}));
  pm.addPass(createFoldConstants());
  pm.addPass(createSimplifyArithmetic());
  pm.addPass(createHoistInvariants());
  // Padding values are constants by now.
  pm.addPass(createSimplifyPadding());
  // Branches that folding has decided, then what has become equal or dead.
  pm.addPass(createSimplifyControl());
  pm.addPass(createSimplifyMovement());
  pm.addPass(createMergeEqual());
  pm.addPass(createVerifyOptimizeOutput());
}
