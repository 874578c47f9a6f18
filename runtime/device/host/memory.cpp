#include "runtime/device/host/memory.h"
#include "runtime/device/host/cache.h"

#if defined(__SANITIZE_ADDRESS__)
#define ALULA_HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ALULA_HAS_ASAN 1
#endif
#endif

namespace alula::runtime::host {

// The only stream is the instance. An event has happened as soon as it is
// recorded, so there is nothing to keep of it.

namespace {
struct HostDevice {
  Instance &instance;
  /// NULL: nothing is kept.
  BlockCache *cache;
  bool isOwner;
};

HostDevice &get(Device *device) {
  return *reinterpret_cast<HostDevice *>(device);
}

/// Devices that share threads are parts of one machine: what one has released
/// is for all of them.
BlockCache *findShared(const Instance &instance) {
  const Instance *owner = instance.threadOwner;
  if (!owner || owner->driver != instance.driver ||
      owner->allocator.isEmbedders() || instance.allocator.isEmbedders())
    return nullptr;
  return get(owner->device).cache;
}

constexpr bool canKeep() {
#ifdef ALULA_HAS_ASAN
  // Whoever uses what was released is to be found.
  return false;
#else
  return true;
#endif
}
} // namespace

Status open(Instance &instance, Device **device) {
  auto *made = create<HostDevice>(instance, nullptr, false);
  if (!made)
    return makeOutOfMemory("a device", sizeof(HostDevice));
  if (instance.keptBytes && canKeep()) {
    made->cache = findShared(instance);
    if (!made->cache) {
      made->cache = create<BlockCache>(instance.allocator, instance.keptBytes);
      made->isOwner = true;
    }
    if (!made->cache) {
      destroy(made);
      return makeOutOfMemory("a device", sizeof(BlockCache));
    }
  }
  *device = reinterpret_cast<Device *>(made);
  return nullptr;
}
void close(Device *device) {
  HostDevice &mine = get(device);
  if (mine.isOwner)
    destroy(mine.cache);
  destroy(&mine);
}

uint8_t *allocate(Device *device, uint64_t bytes) {
  HostDevice &mine = get(device);
  return mine.cache
             ? mine.cache->allocate(bytes)
             : static_cast<uint8_t *>(mine.instance.allocator.allocate(bytes));
}
void release(Device *device, uint8_t *memory, uint64_t bytes) {
  HostDevice &mine = get(device);
  if (mine.cache)
    mine.cache->release(memory, bytes);
  else
    mine.instance.allocator.release(memory, bytes);
}
bool reaches(Device *, const void *, uint64_t) { return true; }
void lend(Device *device, int64_t bytes) {
  if (BlockCache *cache = get(device).cache)
    cache->lend(bytes);
}
bool readStatistics(Device *device, alula_memory_statistics &statistics) {
  BlockCache *cache = get(device).cache;
  if (cache)
    cache->read(statistics);
  return cache;
}
void trim(Device *device) {
  if (BlockCache *cache = get(device).cache)
    cache->trim();
}

Status createStream(Device *device, Stream **stream) {
  *stream = reinterpret_cast<Stream *>(&get(device).instance);
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
