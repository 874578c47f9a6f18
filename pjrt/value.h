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

  /// The data, or a copy of them that vectors are read from faster.
  alula_buffer *getForCall();

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
  /// Memory of the host's that does not begin at a cache line: NumPy's large
  /// arrays do not. Half of the vectors in it lie in two lines, and programs
  /// that read elements several times take up to 1.5 times as long. What is
  /// read once is not worth a copy, so the second call makes one.
  bool isMisaligned = false;

private:
  int64_t counted = 0;
  std::atomic<bool> wasRead{false};
  std::atomic<alula_buffer *> aligned{nullptr};
};

} // namespace alula::pjrt
