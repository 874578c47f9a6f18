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

alula_buffer *Value::getForCall() {
  if (!isMisaligned || !wasRead.exchange(true, std::memory_order_relaxed))
    return data;
  if (alula_buffer *copy = aligned.load(std::memory_order_acquire))
    return copy;
  alula_buffer *copy = nullptr;
  alula_error *error = alula_buffer_create(
      device->instance.get(), alula_buffer_get_dtype(data),
      alula_buffer_get_rank(data), alula_buffer_get_dims(data), &copy);
  if (!error)
    error = alula_buffer_copy(copy, 0, data, 0, alula_buffer_get_bytes(data),
                              nullptr);
  if (error) {
    // Without memory for it, programs read what there is.
    alula_error_destroy(error);
    alula_buffer_release(copy);
    return data;
  }
  alula_buffer *others = nullptr;
  if (aligned.compare_exchange_strong(others, copy,
                                      std::memory_order_acq_rel)) {
    device->memoryCount.add(static_cast<int64_t>(alula_buffer_get_bytes(copy)));
    return copy;
  }
  alula_buffer_release(copy);
  return others;
}

void Value::forget() {
  device->memoryCount.inUse -= counted;
  counted = 0;
  alula_buffer_release(data);
  data = nullptr;
  if (alula_buffer *copy = aligned.exchange(nullptr)) {
    device->memoryCount.inUse -=
        static_cast<int64_t>(alula_buffer_get_bytes(copy));
    alula_buffer_release(copy);
  }
}

Value::~Value() {
  if (data)
    forget();
}
