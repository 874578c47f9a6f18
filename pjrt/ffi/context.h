#pragma once

#include "pjrt/ffi/handler.h"
#include "pjrt/ffi/registry.h"

namespace alula::pjrt::ffi {

/// An object that a handler leaves for those of later stages.
class State {
public:
  State() = default;
  State(const State &) = delete;
  State &operator=(const State &) = delete;
  ~State() {
    if (object && deleter)
      deleter(object);
  }
  /// Takes the object over, or an error.
  void *set(int64_t type, void *object);
  void *get(int64_t type, void *&object) const;

private:
  int64_t type = 0;
  void *object = nullptr;
  Deleter deleter = nullptr;
};

/// What handlers know of the call that they are a part of.
struct Context {
  /// Of the client's devices in this process; -1 when a program is loaded.
  int32_t device = -1;
  /// By the stage whose handler makes it.
  State *states[stageCount] = {};
};

} // namespace alula::pjrt::ffi
