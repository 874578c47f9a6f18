#pragma once

#include "pjrt/event.h"

#include <cstdint>

namespace alula::pjrt {

struct Device;

/// What a device has allocated for buffers.
struct MemoryCount {
  std::atomic<int64_t> inUse{0}, peak{0}, allocations{0}, largest{0};
  void add(int64_t bytes);
};

/// An array that is there or will be: a future. Written once by whoever
/// computes it, before `ready` is done; read only afterwards, by anyone who
/// holds a use. Whoever has the only use may write the memory in place.
class Value : public Counted {
public:
  /// Will be given its data or an error.
  Value(Device *device, Ref<Event> ready) : device(device), ready(ready) {}
  ~Value();

  /// Takes the data over.
  void set(alula_buffer *given);
  /// After a call took the memory over for a result.
  void forget();

  Device *const device;
  const Ref<Event> ready;
  /// Null until `ready`, and if that ended in an error.
  alula_buffer *data = nullptr;
  /// Of memory of the caller's that must stay as it is.
  bool isReadOnly = false;

private:
  int64_t counted = 0;
};

} // namespace alula::pjrt
