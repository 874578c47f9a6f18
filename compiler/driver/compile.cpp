// The order of the rooms.

#include "compiler/driver/compile.h"

#include "artifact/bundle.h"
#include "artifact/printer.h"
#include "compiler/driver/check_custom_calls.h"
#include "compiler/driver/debug_texts.h"
#include "compiler/driver/kernel_functions.h"
#include "compiler/driver/kinds.h"
#include "compiler/driver/machines.h"
#include "compiler/driver/object_stage.h"
#include "compiler/driver/plugin_stages.h"
#include "compiler/driver/stages.h"
#include "compiler/driver/stages_executables.h"
#include "compiler/driver/static_output.h"
#include "compiler/driver/targets.h"
#include "compiler/driver/watch.h"
#include "compiler/emit/emit.h"
#include "compiler/objects/assemble_ptx.h"
#include "compiler/preprocess/check_contract.h"
#include "compiler/preprocess/preprocess.h"
#include "compiler/target/cpu/generate.h"
#include "compiler/target/cuda/generate.h"
#include "compiler/target/cuda/machine.h"
#include "dialect/dispatch/ops.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"

#include <cstdlib>

using namespace mlir;
using namespace alula::driver;

namespace {
LogicalResult runPasses(Room room, ModuleOp module,
                        const CompileOptions &options) {
  PassManager pm(module.getContext(), ModuleOp::getOperationName());
  pm.enableVerifier(options.verifyStages);
  if (options.setUpPasses && failed(options.setUpPasses(pm)))
    return failure();
  addPasses(room, pm, options);
  if (options.addPasses)
    options.addPasses(room, pm);
  if (!pm.size())
    return success();
  if (failed(pm.run(module)))
    return failure();
  // As tests want it: it would be a twentieth of the time.
  static const bool verifies = std::getenv("ALULA_VERIFY");
  return success(!verifies || succeeded(verify(module)));
}

/// Who wants to know what kernels are on their way to code; null: nobody.
decltype(alula::cpu::CodegenHooks::onForm)
listen(ModuleOp module, const std::string &machine,
       IntermediateFiles &intermediates, const CompileOptions &options) {
  auto write = intermediates.listen(machine);
  if (options.debugLevel < 3)
    return write;
  return [module, machine, write](StringRef kernel, StringRef ending,
                                  StringRef bytes) {
    if (ending == ".ll")
      keepText(module, kernel, "." + machine + ending, bytes);
    if (write)
      write(kernel, ending, bytes);
  };
}

LogicalResult generateCudaVariant(ModuleOp module, StringRef device,
                                  const CompileOptions &options,
                                  const std::string &ptxas, Watch &watch) {
  auto machine = alula::cuda::findMachine(device);
  if (!machine)
    return module.emitError()
           << "'builtin.module': " << llvm::toString(machine.takeError());
  alula::cuda::CodegenHooks hooks;
  hooks.isCancelled = [&] { return watch.isCancelled(); };
  hooks.onKernel = [&](StringRef kernel, unsigned done, unsigned total) {
    watch.report(kernel, done, total);
  };
  hooks.verifyPasses = options.verifyStages;
  hooks.cubinChips = options.cubinChips;
  hooks.ptxas = ptxas;
  return alula::cuda::generateVariant(module, *machine, hooks);
}

/// The ptxas that makes machine code, if some is asked for: each chip must be
/// one that a target's code can be made for.
FailureOr<std::string> findCubinAssembler(ModuleOp module,
                                          const CompileOptions &options) {
  SmallVector<StringRef> devices;
  for (StringRef target : options.targets)
    if (target.consume_front("cuda:"))
      devices.push_back(target);
  if (options.cubinChips.empty() || (devices.empty() && options.isOneOfKinds))
    return std::string();
  for (StringRef chip : options.cubinChips)
    if (llvm::none_of(devices, [&](StringRef device) {
          return alula::cuda::canMakeCubin(device, chip);
        }))
      return module.emitError()
             << "'builtin.module': --cuda-cubins: no target's code can be made "
                "for "
             << chip << ": the targets are "
             << llvm::join(options.targets, ", ");
  std::string ptxas = alula::objects::findAssembler(options.ptxas);
  if (ptxas.empty())
    return module.emitError()
           << "'builtin.module': --cuda-cubins needs ptxas, which is not in "
              "PATH, CUDA_HOME or CUDA_PATH; --cuda-ptxas says where it is";
  return ptxas;
}

LogicalResult generateVariants(ModuleOp module, const CompileOptions &options,
                               Watch &watch) {
  FailureOr<std::string> ptxas = findCubinAssembler(module, options);
  if (failed(ptxas))
    return failure();
  IntermediateFiles intermediates(module, options);
  for (StringRef target : addByteLevels(module, options.targets)) {
    auto [kind, machineName] = target.split(':');
    if (kind == "cuda") {
      if (failed(
              generateCudaVariant(module, machineName, options, *ptxas, watch)))
        return failure();
      continue;
    }
    if (kind != "cpu") {
      if (failed(addPluginVariant(module, target, options)))
        return failure();
      continue;
    }
    auto machine = alula::cpu::findMachine(machineName);
    if (!machine)
      return module.emitError()
             << "'builtin.module': " << llvm::toString(machine.takeError());
    if (machine->facts.isBare)
      return module.emitError()
             << "'builtin.module': there is no runtime for cpu:"
             << machine->name
             << ", only --emit=" << (machine->facts.isText ? "c" : "static");
    alula::cpu::CodegenHooks hooks;
    hooks.isCancelled = [&] { return watch.isCancelled(); };
    hooks.onKernel = [&](StringRef kernel, unsigned done, unsigned total) {
      watch.report(kernel, done, total);
    };
    hooks.debugLevel = options.debugLevel;
    hooks.verifyPasses = options.verifyStages;
    hooks.onForm = listen(module, machine->name, intermediates, options);
    if (failed(alula::cpu::generateVariant(module, *machine, hooks)) ||
        failed(intermediates.check()))
      return failure();
  }
  return success();
}

/// What decides the artifact's content, besides the program.
std::string describeOptions(const CompileOptions &options) {
  std::string text = llvm::join(options.targets, ",");
  for (const FlagRow &row : getFlags())
    if (row.flag != Flag::Target)
      for (const std::string &value : getOption(options, row.flag))
        text += " " + row.name.str() + "=" + value;
  for (const std::string &plugin : describePlugins(options))
    text += " plugin=(" + plugin + ")";
  return text;
}

LogicalResult emit(ModuleOp module, const CompileOptions &options, Watch &watch,
                   CompileOutput &output) {
  alula::emit::ExternalConstants external;
  external.file = options.externalFile;
  external.minimumBytes = options.externalMinimumBytes;
  if (failed(alula::emit::emitArtifact(module,
                                       {compilerVersion.str(),
                                        describeOptions(options),
                                        options.record.inputHash},
                                       output.artifact, &external)))
    return failure();
  if (failed(finishByPlugins(module.getLoc(), options, output.artifact)))
    return failure();
  output.external = std::move(external.bytes);
  if (options.dumps.stages.empty())
    return success();
  alula::artifact::Artifact artifact;
  alula::artifact::Diagnostic diagnostic;
  if (!alula::artifact::openArtifact(
          output.artifact.data(), output.artifact.size(), {.checkData = false},
          artifact, diagnostic))
    return module.emitError() << "'builtin.module': " << diagnostic.text;
  return watch.dump(module.getLoc(), ".txt",
                    [&](llvm::raw_ostream &os) { os << printText(artifact); });
}

/// The end of the dispatch room: what others do to each executable by itself.
LogicalResult finishExecutables(ModuleOp module, const CompileOptions &options,
                                Watch &watch) {
  if (failed(
          writeExecutables(module,
                           {"--dump-executable-sources-to",
                            options.dumps.sources, ".source", Room::Dispatch},
                           options)) ||
      watch.isCancelled())
    return failure();
  std::map<std::string, std::string> before;
  if (!options.dumps.preprocessed.empty())
    before = printExecutables(module);
  if (failed(substituteExecutables(module, Room::Dispatch, options)) ||
      failed(substituteObjects(module, options)))
    return failure();
  bool hasChanged = false;
  if (options.preprocess &&
      failed(alula::preprocess::preprocessExecutables(
          module, *options.preprocess, options.isCancelled, &hasChanged)))
    return failure();
  *options.record.areStepsIdle = !hasChanged && !options.preprocessAgain;
  if (failed(prepareObjects(module, options)))
    return failure();
  if (!options.dumps.preprocessed.empty()) {
    auto after = printExecutables(module);
    if (failed(writeExecutables(
            module,
            {"--dump-executable-preprocessed-to", options.dumps.preprocessed,
             ".preprocessed", Room::Dispatch},
            options, [&](alula::dispatch::ExecutableOp executable) {
              std::string name = executable.getSymName().str();
              return before[name] != after[name];
            })))
      return failure();
  }
  if (failed(translateByPlugins(module, options)))
    return failure();
  return writeBenchmarks(module, options);
}

/// The end of the kernel room.
LogicalResult finishConfigs(ModuleOp module, const CompileOptions &options) {
  if (failed(substituteExecutables(module, Room::Kernel, options)) ||
      failed(substituteOwnObjects(module, options)) ||
      failed(writeExecutables(module,
                              {"--dump-executable-configs-to",
                               options.dumps.configs, ".config", Room::Kernel},
                              options)))
    return failure();
  return writeBinaries(module, options,
                       [](ModuleOp alone, const CompileOptions &aloneOptions,
                          std::string &artifact) {
                         CompileOutput output;
                         LogicalResult result = alula::driver::compile(
                             alone, aloneOptions, output);
                         artifact = std::move(output.artifact);
                         return result;
                       });
}

/// Says which executables a room has nothing to do for.
void logSkipped(Room room, ModuleOp module, const CompileOptions &options) {
  if (!options.onLog || (room != Room::Kernel && room != Room::Target))
    return;
  using alula::preprocess::BodyForm;
  StringRef work = room == Room::Kernel ? "conversion to loops"
                                        : "lowering to LLVM's dialect";
  for (auto executable : module.getOps<alula::dispatch::ExecutableOp>()) {
    if (executable.isExternal()) {
      options.onLog("  @" + executable.getSymName() + ": " + work +
                    " skipped: its code comes from objects");
      continue;
    }
    for (const auto &entry :
         alula::preprocess::readContract(executable).entries) {
      bool isLoops = entry.form == BodyForm::Loops && room == Room::Kernel;
      if (isLoops || entry.form == BodyForm::Llvm)
        options.onLog("  @" + executable.getSymName() + ": " + work +
                      " skipped: its body is " +
                      (isLoops ? "loops" : "in LLVM's dialect") + " already");
    }
  }
}

LogicalResult runRoom(Room room, ModuleOp module, const CompileOptions &options,
                      Watch &watch, CompileOutput &output) {
  if (options.onLog)
    options.onLog("stage " + getRoomName(room));
  logSkipped(room, module, options);
  keepTexts(module, room, options);
  if (failed(enterRoom(room, module, options)))
    return failure();
  if (failed(runPasses(room, module, options)))
    return failure();
  if (failed(leaveRoom(room, module, options)))
    return failure();
  switch (room) {
  case Room::Partition:
    // Those that only speak of shardings are gone.
    return checkCustomCalls(module, options.customCalls);
  case Room::Input:
  case Room::Optimize:
  case Room::Plan:
  case Room::Schedule:
    return success();
  case Room::Dispatch:
    if (options.debugLevel)
      keepKernelFacts(module);
    return finishExecutables(module, options, watch);
  case Room::Kernel:
    return finishConfigs(module, options);
  case Room::Target:
    // Code that needs no runtime is made as one piece, with its host.
    if (options.outputForm != OutputForm::Artifact)
      return success();
    return generateVariants(module, options, watch);
  case Room::Emit:
    if (options.outputForm != OutputForm::Artifact)
      return emitStatic(
          module, options, describeOptions(options),
          [&](StringRef kernel, unsigned done, unsigned total) {
            watch.report(kernel, done, total);
          },
          output.files);
    return emit(module, options, watch, output);
  }
  return failure();
}
} // namespace

/// Goes on with a program that says for which of the kinds it is.
static LogicalResult compileOwnKind(ModuleOp module, ArrayRef<Kind> kinds,
                                    const CompileOptions &options,
                                    CompileOutput &output) {
  auto machine = module->getAttrOfType<alula::dispatch::MachineAttr>(
      alula::dispatch::machineAttributeName);
  for (const Kind &kind : kinds)
    if (machine && machine.getKind() == kind.kind &&
        alula::dispatch::isSameKind(kind.facts, machine.getFacts())) {
      CompileOptions mine = options;
      mine.targets = kind.targets;
      return compile(module, mine, output);
    }
  return emitError(module.getLoc())
         << "[stage-usage] the program is for another machine than any that is "
            "named: name targets of one kind: "
         << listNames(kinds);
}

/// Compiles a program that has been partitioned for each kind, and puts the
/// artifacts into one.
static LogicalResult compileKinds(ModuleOp module, ArrayRef<Kind> kinds,
                                  const CompileOptions &options,
                                  CompileOutput &output) {
  if (options.until != Room::Emit)
    return emitError(module.getLoc())
           << "[stage-usage] the program is compiled for several kinds of "
              "machines, which after stage '"
           << getRoomName(Room::Partition)
           << "' are programs of their own: name targets of one kind: "
           << listNames(kinds);
  std::vector<alula::artifact::ProgramSpec> programs;
  for (const Kind &kind : kinds) {
    OwningOpRef<ModuleOp> program = module.clone();
    CompileOptions mine = options;
    mine.targets = kind.targets;
    mine.isOneOfKinds = true;
    mine.completed = Room::Partition;
    mine.dumps = makeDumps(options.dumps, kind.name);
    CompileOutput made;
    if (failed(compile(*program, mine, made)))
      return failure();
    if (programs.empty())
      output.external = std::move(made.external);
    else if (output.external != made.external)
      return emitError(module.getLoc())
             << "[stage-usage] constants outside of the artifact must be the "
                "same for each kind of machine: those for "
             << kind.name << " differ";
    // What a device beside the processor has says nothing of who loads it.
    bool isHost = kind.kind == "cpu";
    programs.push_back(
        {kind.name, isHost ? static_cast<uint32_t>(kind.facts.cores) : 1,
         isHost ? static_cast<uint64_t>(kind.facts.getCoreCacheBytes()) : 0,
         std::move(made.artifact)});
  }
  alula::artifact::Diagnostic diagnostic;
  output.artifact = alula::artifact::bundlePrograms(programs, diagnostic);
  if (output.artifact.empty())
    return module.emitError()
           << "'builtin.module': artifact does not verify: " << diagnostic.text;
  return success();
}

LogicalResult alula::driver::compile(ModuleOp module,
                                     const CompileOptions &options,
                                     CompileOutput &output) {
  Watch watch(module.getContext(), options);
  if (options.executableOnly && failed(checkExecutableAlone(module)))
    return failure();
  unsigned first = options.completed ? unsigned(*options.completed) + 1 : 0;
  FailureOr<std::vector<Kind>> kinds = findKinds(module, options);
  if (failed(kinds))
    return failure();
  if (kinds->size() > 1 &&
      (first > static_cast<unsigned>(Room::Dispatch) ||
       module->hasAttr(alula::dispatch::machineAttributeName)))
    return compileOwnKind(module, *kinds, options, output);
  // From here on rooms ask what they compile for.
  if (first >= static_cast<unsigned>(Room::Dispatch) &&
      failed(assignMachine(module, options)))
    return failure();
  if (options.completed == Room::Dispatch && options.preprocessAgain) {
    watch.beginRoom(Room::Dispatch);
    if (failed(finishExecutables(module, options, watch)))
      return failure();
  }
  // Whoever wrote the program may have added objects.
  else if (first > static_cast<unsigned>(Room::Dispatch) &&
           first <= static_cast<unsigned>(Room::Target) &&
           failed(prepareObjects(module, options)))
    return failure();
  for (unsigned i = first; i <= static_cast<unsigned>(options.until); ++i) {
    auto room = static_cast<Room>(i);
    if (room == Room::Dispatch && kinds->size() > 1)
      return compileKinds(module, *kinds, options, output);
    watch.beginRoom(room);
    if (room == Room::Dispatch && failed(assignMachine(module, options)))
      return failure();
    if (failed(runRoom(room, module, options, watch, output)) ||
        watch.isCancelled() || failed(watch.endRoom(module)))
      return failure();
  }
  return success();
}
