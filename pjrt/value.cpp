#include "pjrt/value.h"
#include "pjrt/objects.h"

using namespace alula::pjrt;

namespace {
void raise(std::atomic<int64_t> &greatest, int64_t value) {
  int64_t seen = greatest.load(std::memory_order_relaxed);
  while (seen < value && !greatest.compare_exchange_weak(seen, value))
    ;
}
} // namespace

void MemoryCount::add(int64_t bytes) {
  ++allocations;
  raise(largest, bytes);
  raise(peak, inUse.fetch_add(bytes) + bytes);
}

void Value::set(alula_buffer *given) {
  data = given;
  counted = static_cast<int64_t>(alula_buffer_get_bytes(given));
  device->memoryCount.add(counted);
}

void Value::forget() {
  device->memoryCount.inUse -= counted;
  counted = 0;
  alula_buffer_release(data);
  data = nullptr;
}

Value::~Value() {
  if (data)
    forget();
}
