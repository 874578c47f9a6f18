#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <functional>
#include <string>
#include <vector>

namespace mlir {
class PassManager;
} // namespace mlir

namespace alula::driver {

/// The rooms in order; compilation may stop after any of them.
enum class Room { Input, Dispatch, Kernel, Schedule, Target, Emit };

struct CompileOptions {
  /// Machines to make code for, best first: "cpu:host", "cpu:x86-64-v3".
  std::vector<std::string> targets = {"cpu:host"};
  Room until = Room::Emit;
  /// Recorded in the artifact.
  std::string inputHash;
  /// Called for each pass manager: a tool's flags for printing and timing.
  std::function<mlir::LogicalResult(mlir::PassManager &)> setUpPasses;
};

/// Runs the rooms up to `options.until` over `module`, in place. If that is
/// Emit, `bytes` is the artifact.
mlir::LogicalResult compile(mlir::ModuleOp module,
                            const CompileOptions &options, std::string &bytes);

} // namespace alula::driver
