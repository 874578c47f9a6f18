#include "compiler/plugin/stage.h"

#include "compiler/plugin/hook.h"
#include "dialect/newer/source.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace alula::plugin;
using Instance = Session::Instance;

namespace {
/// With locations and data, as another process needs it.
std::string serialize(ModuleOp module, bool bytecode) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (bytecode)
    (void)writeBytecodeToFile(module, os);
  else
    alula::newer::printOperation(module, os,
                                 OpPrintingFlags().enableDebugInfo());
  return text;
}

/// Where the files of a failure lie.
class FailureFolder {
public:
  explicit FailureFolder(StringRef plugin) {
    if (llvm::sys::fs::createUniqueDirectory("alula-plugin-" + plugin, path))
      path.clear();
  }
  /// A script can be run.
  void write(StringRef name, const Twine &text, bool isScript = false) {
    if (path.empty())
      return;
    SmallString<128> file(path);
    llvm::sys::path::append(file, name);
    std::error_code code;
    llvm::raw_fd_ostream os(file, code);
    if (!code)
      os << text;
    if (isScript)
      (void)llvm::sys::fs::setPermissions(file, llvm::sys::fs::all_read |
                                                    llvm::sys::fs::all_exe |
                                                    llvm::sys::fs::owner_write);
  }
  std::string describe() const {
    return path.empty() ? ""
                        : "; the program before and after, and rerun.sh, lie "
                          "in " +
                              std::string(path);
  }

private:
  SmallString<128> path;
};

/// Keeps errors back, to be notes of ours.
class Listener {
public:
  explicit Listener(MLIRContext *context)
      : handler(context, [this](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
            return failure();
          if (said.empty())
            said = diagnostic.str();
          return success();
        }) {}
  std::string said;

private:
  ScopedDiagnosticHandler handler;
};

class StageRunner {
public:
  StageRunner(const Session &session, const StageCall &call, ModuleOp module)
      : session(session), call(call), module(module),
        stage(session.makeStage(call.stage, call.executable, call.target)) {}

  LogicalResult run() {
    for (const Instance &instance : session.getInstances()) {
      if (!instance.plugin->takesPart(call.stage) ||
          (call.only && call.only != instance.plugin))
        continue;
      if (instance.plugin->hooks.pipeline && failed(runPipeline(instance)))
        return failure();
      if (instance.plugin->hooks.rewrite && failed(runRewrite(instance)))
        return failure();
    }
    return success();
  }

private:
  LogicalResult runPipeline(const Instance &instance) {
    // Printed only if it is needed.
    OwningOpRef<ModuleOp> before = module.clone();
    // After a crash it can't be destroyed any more.
    auto owner = std::make_unique<PassManager>(module.getContext(),
                                               ModuleOp::getOperationName());
    PassManager &pm = *owner;
    if (call.setUpPasses && failed(call.setUpPasses(pm)))
      return failure();
    char *text = nullptr;
    int32_t code = 0;
    LogicalResult result = success();
    // Outside of what a crash leaves without its destructors.
    std::optional<Listener> listener(std::in_place, module.getContext());
    std::optional<std::string> crash =
        callHook(instance.plugin->getId(), call.stage, [&] {
          OpPassManager &passes = pm;
          code = instance.plugin->hooks.pipeline(instance.self, &stage, &passes,
                                                 &text);
          if (code != 0)
            return;
          result = pm.run(module);
        });
    std::string said = listener->said;
    listener.reset();
    if (crash) {
      session.hasCrashed = true;
      (void)owner.release();
      return fail(instance, *before, /*after=*/{}, "plug-crash", *crash);
    }
    if (code != 0)
      return fail(instance, *before, {}, "plug-stage", takeError(text));
    std::string invalid = verifyModule(module);
    if (!invalid.empty())
      return fail(instance, *before, module, "plug-stage",
                  "it leaves an invalid program: " + invalid);
    if (succeeded(result))
      return success();
    return fail(instance, *before, module, "plug-stage",
                "a pass has failed" + (said.empty() ? said : ": " + said));
  }

  static std::string verifyModule(ModuleOp module) {
    Listener listener(module.getContext());
    if (succeeded(verify(module)))
      return "";
    return listener.said.empty() ? "no reason is known" : listener.said;
  }

  LogicalResult runRewrite(const Instance &instance) {
    std::string input =
        serialize(module, instance.plugin->hooks.flags & ALULA_HOOKS_BYTECODE);
    Session::Reply reply = session.rewrite(instance, stage, input);
    if (auto *failure = std::get_if<Session::Failure>(&reply))
      return fail(instance, input, "",
                  failure->isCrash ? "plug-crash" : "plug-stage",
                  failure->text);
    const std::string &text = std::get<std::string>(reply);
    if (text.empty() || text == input)
      return success();
    // What it brings along must not stay in our context if it is not good.
    MLIRContext scratch(module.getContext()->getDialectRegistry(),
                        MLIRContext::Threading::DISABLED);
    Listener listener(&scratch);
    if (!alula::newer::parseSource(text, &scratch, instance.plugin->table.id))
      return fail(instance, input, text, "plug-stage",
                  "its reply is no program: " + listener.said);
    OwningOpRef<ModuleOp> changed = alula::newer::parseSource(
        text, module.getContext(), instance.plugin->table.id);
    if (!changed)
      return failure();
    module.getBodyRegion().takeBody(changed->getBodyRegion());
    module->setAttrs((*changed)->getAttrDictionary());
    return success();
  }

  LogicalResult fail(const Instance &instance, ModuleOp before, ModuleOp after,
                     StringRef tag, const Twine &why) {
    return fail(instance, serialize(before, /*bytecode=*/false),
                after ? serialize(after, /*bytecode=*/false) : "", tag, why);
  }

  LogicalResult fail(const Instance &instance, StringRef before,
                     StringRef after, StringRef tag, const Twine &why) {
    FailureFolder folder(instance.plugin->getId());
    folder.write("before.mlir", before);
    if (!after.empty())
      folder.write("after.mlir", after);
    if (!session.command.empty())
      folder.write("rerun.sh", "#!/bin/sh\n" + session.command + "\n",
                   /*isScript=*/true);
    std::string what = why.str();
    return emitError(module.getLoc())
           << "[" << tag << "] plugin '" << instance.plugin->getId()
           << "', stage " << call.stage
           << (*call.executable ? ", executable @" : "") << call.executable
           << ": " << what << folder.describe();
  }

  const Session &session;
  const StageCall &call;
  ModuleOp module;
  alula_stage stage;
};

/// Its dialects are loaded before it runs: not in the middle of a pass.
class StagePass : public PassWrapper<StagePass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(StagePass)
  StagePass(std::shared_ptr<Session> session, const char *stage)
      : session(std::move(session)), stage(stage) {}
  StringRef getName() const override { return "plugins"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    for (const Instance &instance : session->getInstances())
      if (char *text = nullptr; instance.plugin->hooks.dialects)
        (void)instance.plugin->hooks.dialects(&getHost(), &registry, &text);
  }
  void runOnOperation() override {
    // The envelope names its executable.
    std::string name;
    for (Operation &op : getOperation().getBody()->getOperations())
      if (auto symbol = op.getAttrOfType<StringAttr>("sym_name"))
        name = symbol.str();
    StageCall call;
    call.stage = stage;
    call.executable = name.c_str();
    if (failed(runStage(session.get(), call, getOperation())))
      signalPassFailure();
  }

private:
  std::shared_ptr<Session> session;
  const char *stage;
};

/// Dialects of `added` that `registry` has under the same name and that are
/// others.
std::string findOtherDialect(const DialectRegistry &registry,
                             const DialectRegistry &added) {
  for (StringRef name : added.getDialectNames()) {
    if (!llvm::is_contained(registry.getDialectNames(), name))
      continue;
    MLIRContext one(registry, MLIRContext::Threading::DISABLED);
    MLIRContext other(added, MLIRContext::Threading::DISABLED);
    if (one.getOrLoadDialect(name)->getTypeID() !=
        other.getOrLoadDialect(name)->getTypeID())
      return name.str();
  }
  return "";
}
} // namespace

llvm::Error alula::plugin::addDialects(const PluginSet &set,
                                       DialectRegistry &registry) {
  for (const auto &plugin : set.plugins) {
    if (!plugin->isActive || !plugin->hooks.dialects)
      continue;
    DialectRegistry added;
    char *text = nullptr;
    int32_t code = 0;
    if (auto crash = callHook(plugin->getId(), "dialects", [&] {
          code = plugin->hooks.dialects(&getHost(), &added, &text);
        }))
      return makeProblem("plug-stage", *crash);
    if (code != 0)
      return makeProblem("plug-stage",
                         "plugin '" + plugin->getId() +
                             "', stage dialects: " + takeError(text));
    std::string other = findOtherDialect(registry, added);
    if (!other.empty())
      return makeProblem("plug-duplicate", "plugin '" + plugin->getId() +
                                               "': there is another dialect '" +
                                               other + "'");
    added.appendTo(registry);
  }
  return llvm::Error::success();
}

llvm::Error alula::plugin::registerPasses(const PluginSet &set) {
  for (const auto &plugin : set.plugins) {
    if (!plugin->isActive || (!plugin->hooks.passes && !plugin->registerPasses))
      continue;
    char *text = nullptr;
    int32_t code = 0;
    if (auto crash = callHook(plugin->getId(), "passes", [&] {
          if (plugin->registerPasses)
            plugin->registerPasses();
          else
            code = plugin->hooks.passes(&getHost(), &text);
        }))
      return makeProblem("plug-duplicate",
                         *crash + "; is one of its passes known already?");
    if (code != 0)
      return makeProblem("plug-stage",
                         "plugin '" + plugin->getId() +
                             "', stage passes: " + takeError(text));
  }
  return llvm::Error::success();
}

LogicalResult alula::plugin::runStage(const Session *session,
                                      const StageCall &call, ModuleOp module) {
  if (!session || !session->takesPart(call.stage))
    return success();
  return StageRunner(*session, call, module).run();
}

LogicalResult alula::plugin::runStage(const Session *session,
                                      const StageCall &call, Location location,
                                      std::string &bytes) {
  if (!session || !session->takesPart(call.stage))
    return success();
  alula_stage stage =
      session->makeStage(call.stage, call.executable, call.target);
  for (const Instance &instance : session->getInstances()) {
    if (!instance.plugin->takesPart(call.stage) ||
        !instance.plugin->hooks.rewrite)
      continue;
    Session::Reply reply = session->rewrite(instance, stage, bytes);
    if (auto *failure = std::get_if<Session::Failure>(&reply))
      return emitError(location)
             << (failure->isCrash ? "[plug-crash]" : "[plug-stage]")
             << " plugin '" << instance.plugin->getId() << "', stage "
             << call.stage << ": " << failure->text;
    if (std::string &text = std::get<std::string>(reply); !text.empty())
      bytes = std::move(text);
  }
  return success();
}

std::unique_ptr<Pass>
alula::plugin::createStagePass(std::shared_ptr<Session> session,
                               const char *stage) {
  return std::make_unique<StagePass>(std::move(session), stage);
}
