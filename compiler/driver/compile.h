#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mlir {
class PassManager;
} // namespace mlir

namespace alula::preprocess {
struct Plan;
} // namespace alula::preprocess

namespace alula::driver {

/// The rooms in order; compilation may stop after any of them.
enum class Room {
  Input,
  Optimize,
  Partition,
  Dispatch,
  Kernel,
  Schedule,
  Target,
  Emit
};
constexpr unsigned roomCount = 8;

/// "input", "dispatch", …: flags, file names and the C API say it this way.
llvm::StringRef getRoomName(Room room);
std::optional<Room> findRoom(llvm::StringRef name);

/// Where the compiler is.
struct Progress {
  Room room;
  /// The pass or kernel that comes next; empty at a room's start.
  llvm::StringRef step;
  /// Kernels done and to do, where that is known; else 0.
  unsigned done = 0, total = 0;
};

struct CompileOptions {
  /// Machines to make code for, best first: "cpu:host", "cpu:x86-64-v3".
  std::vector<std::string> targets = {"cpu:host"};
  Room until = Room::Emit;
  /// The first room to run: the module is what the ones before would leave.
  Room from = Room::Input;
  /// Functions that the embedder registers with the runtime.
  std::vector<std::string> customCalls;
  /// Tools and pipelines that get each kernel at the end of the dispatch room;
  /// null: none.
  std::shared_ptr<const preprocess::Plan> preprocess;
  /// A folder for the program after each room that changed it; empty: none.
  std::string dumpDirectory;
  /// Run MLIR's verifier after every pass.
#ifdef NDEBUG
  bool verifyStages = false;
#else
  bool verifyStages = true;
#endif
  /// The safetensors file for constants of at least so many bytes; empty: all
  /// stay in the artifact.
  std::string externalFile;
  uint64_t externalMinimumBytes = 65536;
  /// Recorded in the artifact.
  std::string inputHash;
  /// Called for each pass manager: a tool's flags for printing and timing.
  std::function<mlir::LogicalResult(mlir::PassManager &)> setUpPasses;
  std::function<void(const Progress &)> onProgress;
  /// Wall-clock seconds of a room that has ended.
  std::function<void(Room, double)> onTime;
  /// Asked between passes and kernels; nothing more is said once it is true.
  std::function<bool()> isCancelled;
};

struct CompileOutput {
  /// The artifact, if the last room is Emit.
  std::string artifact;
  /// The content of `externalFile`; empty if no constant is large enough.
  std::string external;
};

/// Runs the rooms up to `options.until` over `module`, in place.
mlir::LogicalResult compile(mlir::ModuleOp module,
                            const CompileOptions &options,
                            CompileOutput &output);

} // namespace alula::driver
