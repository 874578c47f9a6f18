// The order of the partition room.

#include "compiler/partition/pipeline.h"

#include "compiler/partition/passes.h"

#include "mlir/Pass/PassManager.h"

void alula::partition::addPartitionPipeline(mlir::OpPassManager &pm) {
  pm.addPass(createPropagateShardings());
  pm.addPass(createMakeLocal());
  pm.addPass(createFuseCollectives());
}

void alula::partition::addShardingImport(mlir::OpPassManager &pm) {
  pm.addPass(createImportShardings());
}

void alula::partition::addLayoutChoice(mlir::OpPassManager &pm) {
  pm.addPass(createResolveLayouts());
}

void alula::partition::addDevicePipeline(mlir::OpPassManager &pm,
                                         bool physicalLayouts) {
  pm.addPass(createLowerLayouts({physicalLayouts}));
  // Blocks of packed elements may begin within a byte.
  pm.addPass(createWidenPacked());
  pm.addPass(createLowerCollectives());
}
