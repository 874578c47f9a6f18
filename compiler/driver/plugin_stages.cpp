#include "compiler/driver/plugin_stages.h"

#include "artifact/reader.h"
#include "compiler/plugin/outline_units.h"
#include "compiler/plugin/stage.h"
#include "compiler/preprocess/envelope.h"
#include "compiler/preprocess/patterns.h"
#include "compiler/preprocess/plan.h"
#include "dialect/dispatch/ops.h"

#include "mlir/IR/Builders.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace alula::driver;
using namespace alula::plugin;
using alula::dispatch::EntryOp;
using alula::dispatch::ExecutableOp;

namespace {
/// Code of plugins' targets: a dictionary of target to executable to bytes.
constexpr llvm::StringLiteral imagesName = "dispatch.plugin_images";

LogicalResult runModuleStage(const char *stage, ModuleOp module,
                             const CompileOptions &options) {
  StageCall call;
  call.stage = stage;
  call.setUpPasses = options.setUpPasses;
  return runStage(options.plugins.get(), call, module);
}

/// "executable::entry" of all, in order.
std::vector<std::string> listEntries(ModuleOp module) {
  std::vector<std::string> entries;
  for (auto executable : module.getOps<ExecutableOp>())
    for (auto entry : executable.getBody().getOps<EntryOp>())
      entries.push_back(
          (executable.getSymName() + "::" + entry.getSymName()).str());
  llvm::sort(entries);
  return entries;
}

/// What is launched must still be there afterwards.
LogicalResult runLinkStage(ModuleOp module, const CompileOptions &options) {
  std::vector<std::string> before = listEntries(module);
  if (failed(runModuleStage("target.link", module, options)))
    return failure();
  std::vector<std::string> after = listEntries(module);
  for (const std::string &entry : before)
    if (!llvm::is_contained(after, entry))
      return module.emitError() << "[plug-stage] stage target.link: entry @"
                                << entry << " is gone";
  return success();
}

struct TargetOwner {
  const Session::Instance *instance = nullptr;
  const alula_target *target = nullptr;
};

TargetOwner findOwner(StringRef kind, const CompileOptions &options) {
  if (options.plugins)
    for (const Session::Instance &instance : options.plugins->getInstances())
      for (const alula_target &target : instance.plugin->targets)
        if (kind == target.name)
          return {&instance, &target};
  return {};
}

std::string listTargets(const CompileOptions &options) {
  std::string text = "cpu, cuda";
  if (options.plugins)
    for (const Session::Instance &instance : options.plugins->getInstances())
      for (const alula_target &target : instance.plugin->targets)
        text += std::string(", ") + target.name;
  return text;
}

LogicalResult checkDevice(ModuleOp module, StringRef text,
                          const alula_target &target) {
  StringRef device = text.split(':').second;
  ArrayRef devices(target.devices, target.n_devices);
  if (device.empty() || llvm::is_contained(devices, device))
    return success();
  auto error = module.emitError() << "'builtin.module': target '" << target.name
                                  << "' has no device '" << device << "'";
  if (!devices.empty())
    error << ": there is " << llvm::join(devices, ", ");
  return error;
}

/// Configures, translates and serialises one executable.
FailureOr<std::string> makeImage(ExecutableOp executable,
                                 const TargetOwner &owner, StringRef target,
                                 const CompileOptions &options) {
  std::string name = executable.getSymName().str(), text = target.str();
  OwningOpRef<ModuleOp> envelope = alula::preprocess::wrap(executable);
  for (const char *stage : {"target.configure", "target.translate"}) {
    StageCall call;
    call.stage = stage;
    call.executable = name.c_str();
    call.target = text.c_str();
    call.only = owner.instance->plugin;
    call.setUpPasses = options.setUpPasses;
    if (failed(runStage(options.plugins.get(), call, *envelope)))
      return failure();
  }
  std::string ir = alula::preprocess::serialize(*envelope, /*bytecode=*/false);
  alula_stage stage = options.plugins->makeStage("target.serialise",
                                                 name.c_str(), text.c_str());
  Session::Reply reply =
      options.plugins->serialise(*owner.instance, *owner.target, stage, ir);
  if (auto *failure = std::get_if<Session::Failure>(&reply))
    return emitError(executable.getLoc())
           << (failure->isCrash ? "[plug-crash]" : "[plug-stage]")
           << " plugin '" << owner.instance->plugin->getId()
           << "', stage target.serialise, executable @" << name << ": "
           << failure->text;
  if (std::get<std::string>(reply).empty())
    return emitError(executable.getLoc())
           << "[plug-stage] plugin '" << owner.instance->plugin->getId()
           << "', stage target.serialise, executable @" << name
           << ": it gives no code";
  return std::get<std::string>(reply);
}
} // namespace

LogicalResult alula::driver::enterRoom(Room room, ModuleOp module,
                                       const CompileOptions &options) {
  switch (room) {
  case Room::Input:
    return runModuleStage("input.pipeline", module, options);
  case Room::Optimize:
    return runModuleStage("global-opt.begin", module, options);
  case Room::Dispatch:
    if (failed(runModuleStage("formation.match", module, options)))
      return failure();
    if (options.preprocess)
      for (const std::string &pattern : options.preprocess->getClaims())
        alula::preprocess::claimPattern(module, pattern);
    return outlineUnits(module);
  case Room::Target:
    return runLinkStage(module, options);
  default:
    return success();
  }
}

LogicalResult alula::driver::leaveRoom(Room room, ModuleOp module,
                                       const CompileOptions &options) {
  switch (room) {
  case Room::Input:
    return runModuleStage("preprocess", module, options);
  case Room::Optimize:
    return runModuleStage("global-opt.end", module, options);
  case Room::Dispatch:
    return runModuleStage("formation.end", module, options);
  default:
    return success();
  }
}

LogicalResult alula::driver::translateByPlugins(ModuleOp module,
                                                const CompileOptions &options) {
  Builder b(module.getContext());
  SmallVector<NamedAttribute> targets;
  for (StringRef text : options.targets) {
    TargetOwner owner = findOwner(text.split(':').first, options);
    if (!owner.target)
      continue;
    if (failed(checkDevice(module, text, *owner.target)))
      return failure();
    SmallVector<NamedAttribute> images;
    for (auto executable : module.getOps<ExecutableOp>()) {
      auto image = makeImage(executable, owner, text, options);
      if (failed(image))
        return failure();
      images.push_back(
          b.getNamedAttr(executable.getSymName(), b.getStringAttr(*image)));
    }
    targets.push_back(b.getNamedAttr(text, b.getDictionaryAttr(images)));
  }
  if (!targets.empty())
    module->setAttr(imagesName, b.getDictionaryAttr(targets));
  return success();
}

LogicalResult alula::driver::addPluginVariant(ModuleOp module, StringRef target,
                                              const CompileOptions &options) {
  TargetOwner owner = findOwner(target.split(':').first, options);
  if (!owner.target)
    return module.emitError() << "'builtin.module': unknown target " << target
                              << ", available: " << listTargets(options);
  auto all = module->getAttrOfType<DictionaryAttr>(imagesName);
  auto images = all ? all.getAs<DictionaryAttr>(target) : DictionaryAttr();
  std::string bytes;
  SmallVector<int64_t> entries;
  for (auto executable : module.getOps<ExecutableOp>()) {
    auto image =
        images ? images.getAs<StringAttr>(executable.getSymName()) : nullptr;
    if (!image)
      return emitError(executable.getLoc())
             << "'dispatch.executable': has no code for target " << target
             << ": the dispatch room must run with its plugin";
    for ([[maybe_unused]] auto entry : executable.getBody().getOps<EntryOp>())
      entries.push_back(static_cast<int64_t>(bytes.size()));
    bytes += image.getValue();
    bytes.resize(llvm::alignTo(bytes.size() + 1, 8));
  }
  if (bytes.empty())
    return success();
  auto b = OpBuilder::atBlockEnd(module.getBody());
  auto variant = b.create<alula::dispatch::VariantOp>(
      module.getLoc(), target, owner.target->name, b.getStrArrayAttr({}),
      bytes);
  variant->setAttr("dispatch.entries", b.getDenseI64ArrayAttr(entries));
  if (owner.target->format)
    variant->setAttr("dispatch.format", b.getStringAttr(owner.target->format));
  return success();
}

LogicalResult alula::driver::finishByPlugins(Location location,
                                             const CompileOptions &options,
                                             std::string &artifact) {
  StageCall call;
  call.stage = "artifact.end";
  if (!options.plugins || !options.plugins->takesPart(call.stage))
    return success();
  std::string before = artifact;
  if (failed(runStage(options.plugins.get(), call, location, artifact)))
    return failure();
  if (artifact == before)
    return success();
  alula::artifact::Artifact file;
  alula::artifact::Diagnostic diagnostic;
  if (alula::artifact::openArtifact(artifact.data(), artifact.size(), {}, file,
                                    diagnostic) &&
      alula::artifact::verifyArtifact(file, diagnostic))
    return success();
  return emitError(location) << "[plug-stage] stage artifact.end: what it "
                                "leaves is no artifact: "
                             << diagnostic.text;
}

std::vector<std::string>
alula::driver::describePlugins(const CompileOptions &options) {
  std::vector<std::string> all;
  if (!options.plugins)
    return all;
  for (const Session::Record &record : options.plugins->describe()) {
    std::string text = record.id + " " + record.version;
    for (const auto &[name, value] : record.options)
      text += " " + name + "=" + value;
    all.push_back(std::move(text));
  }
  return all;
}

void alula::driver::addPluginStep(const std::shared_ptr<Session> &session,
                                  alula::preprocess::Plan &plan) {
  constexpr const char *stage = "executable.preprocess";
  if (!session->takesPart(stage))
    return;
  alula::preprocess::Step step;
  step.text = "plugins";
  step.pipeline.emplace(ModuleOp::getOperationName());
  step.pipeline->addPass(createStagePass(session, stage));
  // A plugin has one state for all of a compilation.
  step.runsInOrder = true;
  plan.steps.push_back(std::move(step));
}

std::unique_ptr<llvm::MemoryBuffer>
alula::driver::detectByPlugins(llvm::MemoryBufferRef program,
                               MLIRContext *context,
                               const CompileOptions &options) {
  if (options.plugins && options.plugins->takesPart("input.detect")) {
    std::string before = program.getBuffer().str(), bytes = before;
    StageCall call;
    call.stage = "input.detect";
    if (failed(runStage(options.plugins.get(), call, UnknownLoc::get(context),
                        bytes)))
      return nullptr;
    if (bytes != before)
      return llvm::MemoryBuffer::getMemBufferCopy(
          bytes, program.getBufferIdentifier());
  }
  return llvm::MemoryBuffer::getMemBuffer(program,
                                          /*RequiresNullTerminator=*/false);
}

llvm::Error alula::driver::checkPlugins(ArrayRef<std::string> recorded,
                                        const CompileOptions &options) {
  std::vector<std::string> now = describePlugins(options);
  for (StringRef text : recorded) {
    auto [id, rest] = text.split(' ');
    std::string version = (id + " " + rest.split(' ').first).str();
    bool isThere = llvm::any_of(now, [&](StringRef other) {
      return (other + " ").str().starts_with(version + " ");
    });
    if (!isThere)
      return llvm::createStringError(
          std::make_error_code(std::errc::invalid_argument),
          "[stage-plugin] the program was compiled so far with plugin " +
              version + ", which does not take part now: --load-plugin");
  }
  return llvm::Error::success();
}
