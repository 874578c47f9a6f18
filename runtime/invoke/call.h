// A call from outside: arguments and results checked, then run.

#pragma once

#include "runtime/executable/state.h"

namespace alula::runtime {

struct CallRequest {
  alula_executable *executable;
  uint32_t function;
  alula_call_options options;
  alula_buffer *const *arguments;
  size_t argumentCount;
  alula_buffer **results;
  size_t resultCount;
};

/// Runs it on this thread.
Status runCall(const CallRequest &request);

} // namespace alula::runtime
