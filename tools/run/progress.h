// What alula-run is at.

#pragma once

#include "alula/runtime.h"

#include <atomic>
#include <string>

namespace alula::run {

/// Counts what runs; hands events on to another listener.
class Progress {
public:
  explicit Progress(uint32_t calls) : calls(calls) {}

  /// The callback for alula_call_options; `user` is a Progress.
  static void record(void *user, const alula_trace_event *event);
  void beginCall();
  /// "call 2 of 5: 120 of 345 commands, main_dispatch_3"; from any thread. How
  /// many there are is known from the second call on.
  std::string describe() const;

  void (*next)(void *user, const alula_trace_event *event) = nullptr;
  void *nextUser = nullptr;

private:
  const uint32_t calls;
  std::atomic<uint32_t> call = 0;
  std::atomic<uint64_t> done = 0, total = 0;
  std::atomic<const char *> name = "";
};

} // namespace alula::run
