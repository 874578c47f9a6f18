// What a compilation is told. Flags, C fields and records meet here.

#pragma once

#include "compiler/driver/flags.h"
#include "compiler/driver/record.h"
#include "compiler/objects/options.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mlir {
class PassManager;
} // namespace mlir

namespace alula::plugin {
class Session;
} // namespace alula::plugin

namespace alula::preprocess {
struct Plan;
} // namespace alula::preprocess

namespace alula::driver {

/// Where the compiler is.
struct Progress {
  Room room;
  /// The pass or kernel that comes next; empty at a room's start.
  llvm::StringRef step;
  /// Kernels done and to do, where that is known; else 0.
  unsigned done = 0, total = 0;
};

/// What is written on the way; none of it changes the artifact.
struct Dumps {
  /// A folder for the program after each room; empty: none.
  std::string stages;
  /// Programs are bytecode instead of text.
  bool bytecode = false;
  /// Constants of more elements are left out of text, which is then only good
  /// for reading.
  std::optional<int64_t> elideLarger;
  /// Folders for executables by themselves, "-" if it is only one; empty: none.
  /// Before others have had them; after that, if they changed; with grids.
  std::string sources, preprocessed, configs;
  /// A program for each call, the compiler's steps from loops to code, and what
  /// --executable-only makes of each.
  std::string benchmarks, intermediates, binaries;
  /// Of arguments, for benchmarks: "0.1" is dimension 1 of argument 0.
  std::map<std::string, int64_t> benchmarkSizes;
};

/// What is written at the end.
enum class OutputForm {
  Artifact,
  /// An archive, a header and a manifest: code that needs no runtime.
  Static,
  /// The same as C99 instead of an archive.
  C,
  /// The same as bytes that a small loader calls.
  Blob
};

/// A file in the place of an executable, or a folder of files.
struct Substitution {
  /// Dispatch or Kernel: what the file has been through.
  Room stage;
  /// Empty: all that the folder has.
  std::string executable;
  std::string path;
};

struct CompileOptions {
  /// Machines to make code for: "cpu:host", "cpu:x86-64-v3". settleTargets.
  std::vector<std::string> targets;
  /// Others are compiled for by themselves: what only they need is no mistake.
  bool isOneOfKinds = false;
  Room until = Room::Emit;
  /// The last room that the module has been through.
  std::optional<Room> completed;
  /// What dumps say, so that going on needs no flags.
  Record record;
  /// Arguments and results of "main" are arrays as they lie in memory, in the
  /// layouts that the program asks for. Else those are ignored.
  bool physicalLayouts = false;
  /// Products and convolutions of f32 that ask for no precision are computed
  /// from numbers rounded to bf16.
  bool bf16Products = false;
  /// Products of f32 that ask for no precision may be computed from numbers
  /// rounded to tf32, where a machine has instructions for that.
  bool tf32Products = false;
  /// What is multiplied by weights of few bits may be rounded to bytes.
  bool byteActivations = false;
  OutputForm outputForm = OutputForm::Artifact;
  /// What names of code without a runtime begin with.
  std::string symbolPrefix;
  /// The most bytes of its arena; none: as many as it takes.
  std::optional<uint64_t> arenaBudget;
  /// It may call the C compiler's functions, such as __aeabi_fadd.
  bool allowsCompilerRt = false;
  /// Functions that the embedder registers with the runtime.
  std::vector<std::string> customCalls;
  /// Tools and pipelines that get each kernel at the end of the dispatch room;
  /// null: none.
  std::shared_ptr<const preprocess::Plan> preprocess;
  std::vector<Substitution> substitutions;
  /// Takes part at the stages that its plugins name; null: no plugins.
  std::shared_ptr<plugin::Session> plugins;
  /// Code of other compilers for executables.
  objects::Options objects;
  /// Chips that an image of CUDA has machine code for: "sm_90". Who makes it;
  /// empty: the ptxas that is found.
  std::vector<std::string> cubinChips;
  std::string ptxas;
  /// The program must be one executable; the artifact has no host.
  bool executableOnly = false;
  /// Preprocess even if the dispatch room is completed already.
  bool preprocessAgain = false;
  Dumps dumps;
  /// What code says of where it comes from: 0 nothing, 1 names, 2 lines of the
  /// program as it was given, 3 lines of texts that the artifact holds.
  unsigned debugLevel = 0;
  /// Run MLIR's verifier after every pass. Builds with assertions run it after
  /// each room in any case.
  bool verifyStages = false;
  /// The safetensors file for constants of at least so many bytes; empty: all
  /// stay in the artifact.
  std::string externalFile;
  uint64_t externalMinimumBytes = 65536;
  /// Such constants may change their layout: nobody else writes the file.
  bool externalAsUsed = false;
  /// A folder with artifacts that were made before; empty: none.
  std::string cache;
  /// Called for each pass manager: a tool's flags for printing and timing.
  std::function<mlir::LogicalResult(mlir::PassManager &)> setUpPasses;
  /// Called behind the passes of each room: what a tool runs besides.
  std::function<void(Room, mlir::PassManager &)> addPasses;
  std::function<void(const Progress &)> onProgress;
  /// What is done and what is left out, a line each: "kernel: @main_0 …".
  std::function<void(const llvm::Twine &)> onLog;
  /// Wall-clock seconds of a room that has ended.
  std::function<void(Room, double)> onTime;
  /// Asked between passes and kernels; nothing more is said once it is true.
  std::function<bool()> isCancelled;
};

/// Sets what a flag of kind Text, Texts or Switch stands for; a switch takes
/// any value. An error is one of usage.
llvm::Error setOption(CompileOptions &options, Flag flag,
                      llvm::StringRef value);
/// That options fit each other, once all are set.
llvm::Error checkOptions(const CompileOptions &options);

/// The values of a flag that decides the artifact's bytes; none for others.
std::vector<std::string> getOption(const CompileOptions &options, Flag flag);
/// All of these as --name=value: what a dump is to hold.
std::vector<std::string> recordOptions(const CompileOptions &options);

} // namespace alula::driver
