// Times of one kernel within a call.

#pragma once

#include "alula/runtime.h"

#include <set>
#include <string>

namespace alula::bench {

class KernelTimer {
public:
  explicit KernelTimer(std::string kernel) : kernel(std::move(kernel)) {}

  /// The callback for alula_call_options; `user` is a KernelTimer.
  static void record(void *user, const alula_trace_event *event);

  void clear() { nanoseconds = dispatches = 0; }
  double getSeconds() const { return double(nanoseconds) * 1e-9; }
  uint64_t getDispatches() const { return dispatches; }
  /// "'a', 'b'": all that ran.
  std::string listNames() const;

private:
  std::string kernel;
  uint64_t nanoseconds = 0, dispatches = 0;
  std::set<std::string> names;
  /// Names are collected at the first call only.
  bool collects = true;

public:
  void stopCollecting() { collects = false; }
};

} // namespace alula::bench
