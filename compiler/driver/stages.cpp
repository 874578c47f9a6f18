#include "compiler/driver/stages.h"

#include "compiler/dispatch/pipeline.h"
#include "compiler/input/passes.h"
#include "compiler/input/pipeline.h"
#include "compiler/kernel/passes.h"
#include "compiler/kernel/pipeline.h"
#include "compiler/kernel/plan/pipeline.h"
#include "compiler/optimize/pipeline.h"
#include "compiler/partition/pipeline.h"
#include "compiler/schedule/pipeline.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace alula;
using namespace alula::driver;

static void addInput(OpPassManager &pm, const CompileOptions &compile) {
  partition::addShardingImport(pm);
  if (compile.physicalLayouts)
    partition::addLayoutChoice(pm);
  input::PipelineOptions options;
  options.lowerQuantized = true;
  options.dynamicShapes = true;
  options.keepFunctions = true;
  // Tensor cores are faster with all groups at once.
  options.raggedCalls = llvm::all_of(compile.targets, [](StringRef target) {
    return target.starts_with("cpu:");
  });
  input::addInputPipeline(pm, options);
  pm.addPass(input::createInputCheckCallSizes());
  pm.addPass(input::createInputInlineCalls());
  pm.addPass(createSymbolDCEPass());
  pm.addNestedPass<func::FuncOp>(kernel::createCanonicalize());
}

static void addDispatch(OpPassManager &pm, const CompileOptions &options) {
  partition::addDevicePipeline(pm, options.physicalLayouts);
  // Whoever supplies constants knows them as they were.
  dispatch::addDispatchPipeline(
      pm,
      {.packWeights = options.externalFile.empty() || options.externalAsUsed});
  // Kernels are formed: a function is in one of them, however long its formula.
  input::addFormulas(pm);
}

void alula::driver::addPasses(Room room, OpPassManager &pm,
                              const CompileOptions &options) {
  switch (room) {
  case Room::Input:
    return addInput(pm, options);
  case Room::Optimize:
    return optimize::addOptimizePipeline(
        pm, {.bf16Products = options.bf16Products,
             .tf32Products = options.tf32Products,
             .byteActivations = options.byteActivations});
  case Room::Partition:
    return partition::addPartitionPipeline(pm);
  case Room::Dispatch:
    return addDispatch(pm, options);
  case Room::Plan:
    return kernel::addPlanPipeline(pm);
  case Room::Kernel:
    return kernel::addKernelPipeline(pm);
  case Room::Schedule:
    return schedule::addSchedulePipeline(pm);
  case Room::Target:
  case Room::Emit:
    return;
  }
}

void alula::driver::addPortableForm(OpPassManager &pm) {
  input::addPortableForm(pm);
}

std::string alula::driver::printPipeline(Room room,
                                         const CompileOptions &options) {
  OpPassManager pm(ModuleOp::getOperationName());
  addPasses(room, pm, options);
  if (!pm.size())
    return "";
  std::string text;
  llvm::raw_string_ostream os(text);
  pm.printAsTextualPipeline(os);
  return text;
}
