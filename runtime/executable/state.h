// The values of an artifact's globals.

#pragma once

#include "runtime/base/mutex.h"
#include "runtime/executable/executable.h"

struct alula_state {
  struct Global {
    uint8_t *data;
    uint64_t bytes;
    bool isInitialised;
    /// Else the initial value, in the artifact.
    bool isOwned;
  };

  alula_executable *executable;
  /// Shared lock in calls that read globals, exclusive in those that write.
  alula::runtime::ReadWriteLock lock;
  alula::runtime::Array<Global> globals;
};

namespace alula::runtime {

Status createState(alula_executable *executable, alula_state **state);
void destroyState(alula_state *state);

} // namespace alula::runtime
