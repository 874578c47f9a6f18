#pragma once

#include "pjrt/event.h"

#include <cstdint>

namespace alula::pjrt {

struct Device;

/// Statistics of a device's allocations for buffers.
struct MemoryCount {
  std::atomic<int64_t> inUse{0}, peak{0}, allocations{0}, largest{0};
  void add(int64_t bytes);
};

/// A future of an array. Set once by its producer, before `ready` is complete;
/// afterwards immutable, for all holders of a reference. The holder of the only
/// reference may update the memory in place.
class Value : public Counted {
public:
  /// Pending: the producer sets data or an error.
  Value(Device *device, Ref<Event> ready) : device(device), ready(ready) {}
  ~Value();

  /// Takes the data over.
  void set(alula_buffer *given);
  /// After a call donated the memory to a result.
  void forget();

  Device *const device;
  const Ref<Event> ready;
  /// Null until `ready`, and if that ended in an error.
  alula_buffer *data = nullptr;
  /// Wraps memory of the caller's that is immutable.
  bool isReadOnly = false;
  /// Of one that is pending: where its data are to lie.
  bool isForHost = false;
  /// Wraps memory of the host's that does not begin at a cache line: NumPy's
  /// large arrays do not. See Buffer::acquireForCall.
  bool isMisaligned = false;

private:
  int64_t counted = 0;
};

} // namespace alula::pjrt
