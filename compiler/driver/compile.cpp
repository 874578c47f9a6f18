// The order of the rooms.

#include "compiler/driver/compile.h"

#include "artifact/printer.h"
#include "compiler/dispatch/pipeline.h"
#include "compiler/driver/check_custom_calls.h"
#include "compiler/driver/watch.h"
#include "compiler/emit/emit.h"
#include "compiler/input/pipeline.h"
#include "compiler/kernel/pipeline.h"
#include "compiler/optimize/pipeline.h"
#include "compiler/partition/pipeline.h"
#include "compiler/preprocess/preprocess.h"
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
  pm.enableVerifier(options.verifyStages);
  if (options.setUpPasses && failed(options.setUpPasses(pm)))
    return failure();
  addPasses(pm);
  return pm.run(module);
}

void addInput(OpPassManager &pm) {
  alula::input::PipelineOptions options;
  options.lowerQuantized = true;
  options.dynamicShapes = true;
  alula::input::addInputPipeline(pm, options);
  pm.addPass(createInlinerPass());
  pm.addPass(createSymbolDCEPass());
}

void addDispatch(OpPassManager &pm, const CompileOptions &options) {
  alula::partition::addCollectivesPipeline(pm);
  // Whoever supplies constants knows them as they were.
  alula::dispatch::addDispatchPipeline(
      pm, {.packWeights = options.externalFile.empty()});
}

LogicalResult generateVariants(ModuleOp module, const CompileOptions &options,
                               Watch &watch) {
  for (StringRef target : options.targets) {
    auto [kind, machineName] = target.split(':');
    if (kind != "cpu")
      return module.emitError()
             << "'builtin.module': no such target: " << target
             << "; there is cpu";
    auto machine = alula::cpu::findMachine(machineName);
    if (!machine)
      return module.emitError()
             << "'builtin.module': " << llvm::toString(machine.takeError());
    alula::cpu::CodegenHooks hooks;
    hooks.isCancelled = [&] { return watch.isCancelled(); };
    hooks.onKernel = [&](StringRef kernel, unsigned done, unsigned total) {
      watch.report(kernel, done, total);
    };
    if (failed(alula::cpu::generateVariant(module, *machine, hooks)))
      return failure();
  }
  return success();
}

/// What decides the artifact's content, besides the program.
std::string describeOptions(const CompileOptions &options) {
  std::string text = llvm::join(options.targets, ",");
  for (const std::string &name : options.customCalls)
    text += " custom-call=" + name;
  if (!options.externalFile.empty())
    text += " externalize-constants=" + options.externalFile +
            " externalize-min-bytes=" +
            std::to_string(options.externalMinimumBytes);
  return text;
}

LogicalResult emit(ModuleOp module, const CompileOptions &options, Watch &watch,
                   CompileOutput &output) {
  alula::emit::ExternalConstants external;
  external.file = options.externalFile;
  external.minimumBytes = options.externalMinimumBytes;
  if (failed(alula::emit::emitArtifact(
          module, {"alula 0.1.0", describeOptions(options), options.inputHash},
          output.artifact, &external)))
    return failure();
  output.external = std::move(external.bytes);
  if (options.dumpDirectory.empty())
    return success();
  alula::artifact::Artifact artifact;
  alula::artifact::Diagnostic diagnostic;
  if (!alula::artifact::openArtifact(
          output.artifact.data(), output.artifact.size(), {.checkData = false},
          artifact, diagnostic))
    return module.emitError() << "'builtin.module': " << diagnostic.text;
  return watch.dump(module.getLoc(), ".txt", printText(artifact));
}

/// What others do to kernels is only seen by what it was before.
LogicalResult preprocess(ModuleOp module, const CompileOptions &options,
                         Watch &watch) {
  if (!options.preprocess || options.preprocess->steps.empty() ||
      watch.isCancelled())
    return success();
  if (!options.dumpDirectory.empty()) {
    std::string text;
    llvm::raw_string_ostream os(text);
    module->print(os, OpPrintingFlags().elideLargeElementsAttrs(64));
    if (failed(watch.dump(module.getLoc(), ".source.mlir", text)))
      return failure();
  }
  return alula::preprocess::preprocessExecutables(module, *options.preprocess,
                                                  options.isCancelled);
}

LogicalResult runRoom(Room room, ModuleOp module, const CompileOptions &options,
                      Watch &watch, CompileOutput &output) {
  switch (room) {
  case Room::Input:
    if (failed(runPasses(module, options, addInput)))
      return failure();
    return checkCustomCalls(module, options.customCalls);
  case Room::Optimize:
    return runPasses(module, options, alula::optimize::addOptimizePipeline);
  case Room::Partition:
    return runPasses(module, options, alula::partition::addPartitionPipeline);
  case Room::Dispatch:
    if (failed(runPasses(module, options, [&](OpPassManager &pm) {
          addDispatch(pm, options);
        })))
      return failure();
    return preprocess(module, options, watch);
  case Room::Kernel:
    return runPasses(module, options, alula::kernel::addKernelPipeline);
  case Room::Schedule:
    return runPasses(module, options, alula::schedule::addSchedulePipeline);
  case Room::Target:
    return generateVariants(module, options, watch);
  case Room::Emit:
    return emit(module, options, watch, output);
  }
  return failure();
}
} // namespace

llvm::StringRef alula::driver::getRoomName(Room room) {
  static constexpr llvm::StringLiteral names[roomCount] = {
      "input", "optimize", "partition", "dispatch", "kernel", "schedule", "target", "emit"};
  return names[static_cast<unsigned>(room)];
}

std::optional<Room> alula::driver::findRoom(llvm::StringRef name) {
  for (unsigned i = 0; i < roomCount; ++i)
    if (getRoomName(static_cast<Room>(i)) == name)
      return static_cast<Room>(i);
  return std::nullopt;
}

LogicalResult alula::driver::compile(ModuleOp module,
                                     const CompileOptions &options,
                                     CompileOutput &output) {
  Watch watch(module.getContext(), options);
  for (auto i = static_cast<unsigned>(options.from);
       i <= static_cast<unsigned>(options.until); ++i) {
    auto room = static_cast<Room>(i);
    watch.beginRoom(room);
    if (failed(runRoom(room, module, options, watch, output)) ||
        watch.isCancelled() || failed(watch.endRoom(module)))
      return failure();
  }
  return success();
}
