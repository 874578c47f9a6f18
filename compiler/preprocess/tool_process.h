#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace alula::preprocess {

/// One run of somebody else's program.
struct ToolRun {
  /// The file to run, and its words, the first of which is its name.
  std::string path;
  std::vector<std::string> words;
  /// "NAME=value", each replaces what is inherited.
  std::vector<std::string> environment;
  std::string input;
};

enum class ToolEnd {
  Exit,
  Signal,
  Timeout,
  OutputLimit,
  /// It could not be started, or not be waited for.
  Spawn
};

struct ToolResult {
  ToolEnd end = ToolEnd::Spawn;
  /// The status, the number of the signal, or errno.
  int code = 0;
  bool dumpedCore = false;
  double seconds = 0;
  std::string output;
  /// Its first and its last bytes, if there are too many.
  std::string errors;
};

struct ToolLimits {
  using Milliseconds = std::chrono::milliseconds;
  /// Most tools alive at once.
  unsigned jobs = 1;
  /// For each run; 0 is none.
  Milliseconds timeout{0};
  uint64_t outputBytes = uint64_t(1) << 30;
  /// Kept of the head and of the tail of what it says.
  uint64_t errorBytes = uint64_t(8) << 20;
  /// Between being asked to end and being ended.
  Milliseconds grace{2000};
  /// For output that others hold open after the tool has ended.
  Milliseconds drain{2000};
};

/// Runs `count` tools, `limits.jobs` at a time, each in a process group of its
/// own that does not outlive it. `prepare` says what to run when its turn
/// comes. Under `make -j` each but one waits for a token of make's. `finish`
/// gets each result, in the order in which they end, and says
/// whether to go on: if not, those alive are ended and no other is started;
/// nothing is said of these. `isCancelled`, which may be null, does the same.
/// Everything is called on this thread.
void runTools(unsigned count, const ToolLimits &limits,
              llvm::function_ref<ToolRun(unsigned)> prepare,
              llvm::function_ref<bool(unsigned, ToolResult &&)> finish,
              const std::function<bool()> &isCancelled = nullptr);

} // namespace alula::preprocess
