// The times of a run as a Chrome trace, which Perfetto reads too.

#pragma once

#include "alula/runtime.h"

#include <string>

namespace alula::run {

class Trace {
public:
  /// The callback for alula_call_options; `user` is a Trace.
  static void record(void *user, const alula_trace_event *event);

  /// The JSON file.
  std::string print() const;

private:
  std::string events;
  uint64_t start = 0;
};

} // namespace alula::run
