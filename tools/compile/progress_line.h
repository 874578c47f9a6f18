// The line that says what the compiler is at, when it takes longer.

#pragma once

#include "compiler/driver/options.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace alula::tools {

/// Rewrites one line of standard error, if that is a terminal, from two seconds
/// after the start until it is destroyed or something else is to be printed.
class ProgressLine {
public:
  explicit ProgressLine(driver::Room until);
  ~ProgressLine();

  void show(const driver::Progress &progress);
  /// Clears the line, so that a diagnostic stands alone.
  void clear();

private:
  void work();

  const bool isTerminal;
  const unsigned rooms;
  const std::chrono::steady_clock::time_point start;
  std::mutex mutex;
  std::condition_variable wakeUp;
  std::string text;
  bool isEnding = false, isShown = false;
  std::thread thread;
};

} // namespace alula::tools
