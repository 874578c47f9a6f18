// The order of the lowering to LLVM.

#include "compiler/target/cpu/pipeline.h"

#include "compiler/kernel/passes.h"
#include "compiler/target/cpu/passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void alula::cpu::addLoweringPipeline(OpPassManager &pm, unsigned indexBits) {
  addLlvmPipeline(pm, indexBits);
  pm.addPass(createMaterializeEntries());
}

void alula::cpu::addLlvmPipeline(OpPassManager &pm, unsigned indexBits) {
  pm.addPass(createVerifyMath());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createLoopInvariantCodeMotionPass());
  pm.addPass(createConvertSCFToCFPass());
  pm.addPass(kernel::createCanonicalize());
  pm.addPass(createCSEPass());
  pm.addPass(createExpandArithmetic());
  pm.addPass(createConvertToLlvm({indexBits}));
  pm.addPass(createReconcileUnrealizedCastsPass());
}
