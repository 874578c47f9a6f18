// The values of an artifact's globals.

#pragma once

#include "runtime/base/mutex.h"
#include "runtime/executable/executable.h"

struct alula_state {
  struct Global {
    uint8_t *data;
    uint64_t bytes;
    bool isInitialised;
    /// Else the bytes are the artifact's.
    bool isOwned;
  };

  alula_executable *executable;
  /// Held shared by calls that read globals, alone by calls that write them.
  alula::runtime::ReadWriteLock lock;
  alula::runtime::Array<Global> globals;
};

namespace alula::runtime {

Status createState(alula_executable *executable, alula_state **state);
void destroyState(alula_state *state);

} // namespace alula::runtime
