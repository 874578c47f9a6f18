// The stages of a compilation at which plugins are called.

#pragma once

#include "compiler/plugin/session.h"

#include "mlir/IR/BuiltinOps.h"

namespace mlir {
class DialectRegistry;
class Pass;
class PassManager;
} // namespace mlir

namespace alula::plugin {

/// Adds the dialects of all active plugins. [plug-duplicate], [plug-stage]
llvm::Error addDialects(const PluginSet &set, mlir::DialectRegistry &registry);
/// Registers the passes of all active plugins, once a process.
llvm::Error registerPasses(const PluginSet &set);

struct StageCall {
  const char *stage = "", *executable = "", *target = "";
  /// Only this plugin, if it is not null.
  const Plugin *only = nullptr;
  /// The caller's flags for printing and timing; may be null.
  std::function<mlir::LogicalResult(mlir::PassManager &)> setUpPasses;
};

/// Calls the hooks of a stage over a module, each of which may change it. What
/// it leaves is verified. A failure is a diagnostic, [plug-stage] or, for a
/// crash, [plug-crash], and the program before and after lies in a folder.
mlir::LogicalResult runStage(const Session *session, const StageCall &call,
                             mlir::ModuleOp module);

/// The same for bytes that are no module: the input, the artifact.
mlir::LogicalResult runStage(const Session *session, const StageCall &call,
                             mlir::Location location, std::string &bytes);

/// The hooks of a stage as a pass over the module with one executable.
std::unique_ptr<mlir::Pass> createStagePass(std::shared_ptr<Session> session,
                                            const char *stage);

} // namespace alula::plugin
