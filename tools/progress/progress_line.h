// The line that says what a tool is at, when it takes longer.

#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace alula::tools {

/// Rewrites one line of standard error, if that is a terminal, from two seconds
/// after the start until it is destroyed or something else is to be printed.
class ProgressLine {
public:
  /// `describe` is called by another thread, and only on a terminal.
  explicit ProgressLine(std::function<std::string()> describe);
  ~ProgressLine();

  bool isActive() const { return isTerminal; }
  /// Clears the line, so that a diagnostic stands alone.
  void clear();

private:
  void work();

  const bool isTerminal;
  const std::function<std::string()> describe;
  const std::chrono::steady_clock::time_point start;
  std::mutex mutex;
  std::condition_variable wakeUp;
  bool isEnding = false, isShown = false;
  std::thread thread;
};

} // namespace alula::tools
