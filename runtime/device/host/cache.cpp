#include "runtime/device/host/cache.h"

#include "alula/artifact.h"

#include <sys/mman.h>

namespace alula::runtime::host {

/// What a kept block says of itself, at its begin.
struct BlockCache::Block {
  uint64_t bytes;
  uint32_t size;
  /// Of the same size, and of all.
  Block *next, *previous;
  Block *newer, *older;
};

/// Bytes that a block has, and their number among all sizes.
struct BlockCache::Size {
  uint64_t bytes;
  uint32_t number;
};

/// Mapped rather than taken from the C library's heap, which gives nothing back
/// from between other blocks. Fewer bytes are not worth a mapping, of which a
/// process has only so many.
constexpr uint64_t mappedBytes = 1 << 20;
constexpr uint64_t leastBytes = 1 << 16;

BlockCache::Size BlockCache::getSize(uint64_t bytes) {
  unsigned shift = 63 - unsigned(__builtin_clzll(bytes)) - 3;
  // At most an eighth is lost; whole huge pages.
  unsigned unit = bytes >= hugeBytes && shift < 21 ? 21 : shift;
  uint64_t rounded = (bytes + (uint64_t(1) << unit) - 1) >> unit << unit;
  if (rounded >> shift == 16)
    ++shift;
  return {rounded,
          (shift + 3 - firstPower) * 8 + uint32_t(rounded >> shift & 7)};
}

uint8_t *BlockCache::obtain(uint64_t bytes) {
  if (bytes < mappedBytes || allocator.isEmbedders())
    return static_cast<uint8_t *>(allocator.allocate(bytes));
  uint64_t slack = bytes >= hugeBytes ? hugePage : 0;
  void *mapped = mmap(nullptr, bytes + slack, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED)
    return nullptr;
  auto *memory = static_cast<uint8_t *>(mapped);
  if (!slack)
    return memory;
  // Huge pages begin at their multiples.
  uint64_t before = -reinterpret_cast<uintptr_t>(memory) & (hugePage - 1);
  if (before)
    munmap(memory, before);
  memory += before;
  if (before != slack)
    munmap(memory + bytes, slack - before);
  madvise(memory, bytes, MADV_HUGEPAGE);
  return memory;
}

void BlockCache::giveBack(uint8_t *memory, uint64_t bytes) {
  if (bytes < mappedBytes || allocator.isEmbedders())
    allocator.release(memory, bytes);
  else
    munmap(memory, bytes);
}

void BlockCache::giveBackAll(Block *first) {
  while (first) {
    Block *newer = first->newer;
    giveBack(reinterpret_cast<uint8_t *>(first), first->bytes);
    first = newer;
  }
}

void BlockCache::add(Block *block) {
  block->next = bySize[block->size];
  block->previous = nullptr;
  if (block->next)
    block->next->previous = block;
  bySize[block->size] = block;
  block->older = newest;
  block->newer = nullptr;
  (newest ? newest->newer : oldest) = block;
  newest = block;
  cached += block->bytes;
}

void BlockCache::take(Block *block) {
  (block->previous ? block->previous->next : bySize[block->size]) = block->next;
  if (block->next)
    block->next->previous = block->previous;
  (block->older ? block->older->newer : oldest) = block->newer;
  (block->newer ? block->newer->older : newest) = block->older;
  cached -= block->bytes;
}

void BlockCache::use(uint64_t bytes) {
  ++allocations;
  inUse += bytes;
  if (inUse > mostInUse)
    mostInUse = inUse;
}

/// Those that are more than the bound, a list.
BlockCache::Block *BlockCache::takeOldest(uint64_t bound) {
  Block *first = nullptr, *last = nullptr;
  while (cached > bound) {
    Block *old = oldest;
    take(old);
    old->newer = nullptr;
    (last ? last->newer : first) = old;
    last = old;
  }
  return first;
}

uint8_t *BlockCache::allocate(uint64_t bytes) {
  bool isKept = bytes >= leastBytes;
  if (bytes > ALULA_MAX_BYTES)
    return nullptr;
  Size size = isKept ? getSize(bytes) : Size{bytes, 0};
  if (isKept) {
    Lock lock(mutex);
    if (Block *block = bySize[size.number]) {
      take(block);
      ++reused;
      use(size.bytes);
      return reinterpret_cast<uint8_t *>(block);
    }
  }
  auto tryIt = [&] {
    return isKept ? obtain(size.bytes)
                  : static_cast<uint8_t *>(allocator.allocate(bytes));
  };
  uint8_t *memory = tryIt();
  if (!memory) {
    trim();
    memory = tryIt();
  }
  if (memory && isKept) {
    Lock lock(mutex);
    use(size.bytes);
  }
  return memory;
}

void BlockCache::release(uint8_t *memory, uint64_t bytes) {
  if (!memory || bytes < leastBytes)
    return allocator.release(memory, bytes);
  Size size = getSize(bytes);
  Block *old;
  bool isKept;
  {
    Lock lock(mutex);
    inUse -= size.bytes;
    uint64_t bound = getBound();
    isKept = size.bytes <= bound;
    if (isKept) {
      auto *block = reinterpret_cast<Block *>(memory);
      block->bytes = size.bytes;
      block->size = size.number;
      add(block);
    }
    old = takeOldest(bound);
    if (cached > mostCached)
      mostCached = cached;
  }
  if (!isKept)
    giveBack(memory, size.bytes);
  giveBackAll(old);
}

void BlockCache::lend(int64_t bytes) {
  Block *old;
  {
    Lock lock(mutex);
    lent += uint64_t(bytes);
    old = takeOldest(getBound());
  }
  giveBackAll(old);
}

void BlockCache::trim() {
  Block *first;
  {
    Lock lock(mutex);
    first = oldest;
    oldest = newest = nullptr;
    memset(bySize, 0, sizeof bySize);
    cached = 0;
  }
  giveBackAll(first);
}

void BlockCache::read(alula_memory_statistics &statistics) {
  Lock lock(mutex);
  statistics.bytes_in_use = inUse;
  statistics.peak_bytes_in_use = mostInUse;
  statistics.bytes_kept = cached;
  statistics.peak_bytes_kept = mostCached;
  statistics.largest_kept = 0;
  for (Block *block : bySize)
    if (block)
      statistics.largest_kept = block->bytes;
  statistics.allocations = allocations;
  statistics.reused = reused;
}

} // namespace alula::runtime::host
