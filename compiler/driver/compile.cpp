// The order of the rooms.

#include "compiler/driver/compile.h"

#include "compiler/dispatch/pipeline.h"
#include "compiler/emit/emit.h"
#include "compiler/input/pipeline.h"
#include "compiler/kernel/pipeline.h"
#include "compiler/schedule/pipeline.h"
#include "compiler/target/cpu/generate.h"
#include "dialect/dispatch/ops.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace alula::driver;

namespace {
LogicalResult runPasses(ModuleOp module, const CompileOptions &options,
                        function_ref<void(OpPassManager &)> addPasses) {
  PassManager pm(module.getContext(), ModuleOp::getOperationName());
  if (options.setUpPasses && failed(options.setUpPasses(pm)))
    return failure();
  addPasses(pm);
  return pm.run(module);
}

void addInput(OpPassManager &pm) {
  alula::input::PipelineOptions options;
  options.lowerQuantized = true;
  alula::input::addInputPipeline(pm, options);
  pm.addPass(createInlinerPass());
  pm.addPass(createSymbolDCEPass());
}

void addKernel(OpPassManager &pm) {
  alula::kernel::addKernelPipeline(
      pm.nest<alula::dispatch::ExecutableOp>());
}

LogicalResult generateVariants(ModuleOp module,
                               const std::vector<std::string> &targets) {
  for (StringRef target : targets) {
    auto [kind, machineName] = target.split(':');
    if (kind != "cpu")
      return module.emitError() << "'builtin.module': no such target: "
                                << target << "; there is cpu";
    auto machine = alula::cpu::findMachine(machineName);
    if (!machine)
      return module.emitError()
             << "'builtin.module': " << llvm::toString(machine.takeError());
    if (failed(alula::cpu::generateVariant(module, *machine)))
      return failure();
  }
  return success();
}
} // namespace

LogicalResult alula::driver::compile(ModuleOp module,
                                     const CompileOptions &options,
                                     std::string &bytes) {
  const struct {
    Room room;
    void (*addPasses)(OpPassManager &);
  } rooms[] = {{Room::Input, addInput},
               {Room::Dispatch, alula::dispatch::addDispatchPipeline},
               {Room::Kernel, addKernel},
               {Room::Schedule, alula::schedule::addSchedulePipeline}};
  for (const auto &[room, addPasses] : rooms) {
    if (failed(runPasses(module, options, addPasses)))
      return failure();
    if (options.until == room)
      return success();
  }
  if (failed(generateVariants(module, options.targets)))
    return failure();
  if (options.until == Room::Target)
    return success();
  return emit::emitArtifact(
      module,
      {"alula 0.1.0", llvm::join(options.targets, ","), options.inputHash},
      bytes);
}
