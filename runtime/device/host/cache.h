// Large blocks that were released, kept for the next allocation of their size:
// touching new pages takes longer than most kernels.

#pragma once

#include "runtime/base/memory.h"
#include "runtime/base/mutex.h"

namespace alula::runtime::host {

/// Blocks below 64 KiB are the allocator's, as they are. Of the others at most
/// `keptBytes`, and a tenth of what is in use, are kept; what has been idle for
/// longest goes first, and all of them when there is no memory. Any thread may
/// call.
class BlockCache {
public:
  BlockCache(const Allocator &allocator, uint64_t keptBytes)
      : allocator(allocator), keptBytes(keptBytes) {}
  ~BlockCache() { trim(); }

  /// As Allocator.
  uint8_t *allocate(uint64_t bytes);
  void release(uint8_t *memory, uint64_t bytes);
  /// Memory of others is in use too: so many bytes more, or less.
  void lend(int64_t bytes);
  /// Gives back all that is kept.
  void trim();
  void read(alula_memory_statistics &statistics);

private:
  struct Block;
  struct Size;
  /// Sixteen powers of two below the first, eight sizes for each of the others.
  static constexpr unsigned firstPower = 16, lastPower = 48;

  static Size getSize(uint64_t bytes);
  uint8_t *obtain(uint64_t bytes);
  void giveBack(uint8_t *memory, uint64_t bytes);
  void giveBackAll(Block *first);
  uint64_t getBound() const { return keptBytes + (inUse + lent) / 10; }
  Block *takeOldest(uint64_t bound);
  void add(Block *block);
  void take(Block *block);
  void use(uint64_t bytes);

  const Allocator allocator;
  const uint64_t keptBytes;
  Mutex mutex;
  /// Of each size, the block that was released last.
  Block *bySize[(lastPower - firstPower + 1) * 8 + 1] = {};
  /// All, in the order in which they were released.
  Block *oldest = nullptr, *newest = nullptr;
  uint64_t cached = 0, mostCached = 0, inUse = 0, mostInUse = 0;
  uint64_t lent = 0;
  uint64_t allocations = 0, reused = 0;
};

} // namespace alula::runtime::host
