#include "runtime/device/host/memory.h"

namespace alula::runtime::host {

// The device and its only stream are the instance. An event has happened as
// soon as it is recorded, so there is nothing to keep of it.

Status open(Instance &instance, Device **device) {
  *device = reinterpret_cast<Device *>(&instance);
  return nullptr;
}
void close(Device *) {}

uint8_t *allocate(Device *device, uint64_t bytes) {
  const auto *instance = reinterpret_cast<const Instance *>(device);
  return static_cast<uint8_t *>(instance->allocator.allocate(bytes));
}
void release(Device *device, uint8_t *memory, uint64_t bytes) {
  reinterpret_cast<const Instance *>(device)->allocator.release(memory, bytes);
}
bool reaches(Device *, const void *, uint64_t) { return true; }

Status createStream(Device *device, Stream **stream) {
  *stream = reinterpret_cast<Stream *>(device);
  return nullptr;
}
void destroyStream(Stream *) {}
Status synchronize(Stream *) { return nullptr; }

Status copyTo(Stream *, uint8_t *to, const void *from, uint64_t bytes) {
  if (bytes)
    memcpy(to, from, bytes);
  return nullptr;
}
Status copyFrom(Stream *, void *to, const uint8_t *from, uint64_t bytes) {
  if (bytes)
    memcpy(to, from, bytes);
  return nullptr;
}
Status copy(Stream *, uint8_t *to, const uint8_t *from, uint64_t bytes) {
  if (bytes)
    memmove(to, from, bytes);
  return nullptr;
}

Status fill(Stream *, uint8_t *to, uint64_t pattern, uint32_t width,
            uint64_t bytes) {
  if (width == 1 || pattern == 0) {
    if (bytes)
      memset(to, int(pattern & 0xFF), bytes);
    return nullptr;
  }
  if (width == 2)
    pattern = (pattern & 0xFFFF) * 0x0001000100010001;
  else if (width == 4)
    pattern = (pattern & 0xFFFFFFFF) * 0x0000000100000001;
  uint64_t at = 0;
  for (; at + 8 <= bytes; at += 8)
    memcpy(to + at, &pattern, 8);
  memcpy(to + at, &pattern, bytes - at);
  return nullptr;
}

Status readWord(Stream *, const uint8_t *from, uint32_t bytes, uint64_t *word) {
  uint64_t bits = 0;
  memcpy(&bits, from, bytes);
  *word = bits;
  return nullptr;
}
Status writeWord(Stream *, uint8_t *to, uint32_t bytes, uint64_t word) {
  memcpy(to, &word, bytes);
  return nullptr;
}

Status createEvent(Device *, Event **event) {
  *event = nullptr;
  return nullptr;
}
void destroyEvent(Event *) {}
Status record(Stream *, Event *) { return nullptr; }
bool hasHappened(Event *) { return true; }

} // namespace alula::runtime::host
