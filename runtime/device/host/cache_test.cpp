// What is kept of released memory: which blocks come again, how many there are
// at the most, when they go.

#include "runtime/device/host/cache.h"
#include "runtime/device/host/memory.h"

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include <sys/mman.h>
#include <sys/resource.h>

namespace alula::runtime::host {
namespace {

constexpr uint64_t mebi = 1 << 20;

alula_memory_statistics read(BlockCache &cache) {
  alula_memory_statistics statistics = {};
  cache.read(statistics);
  return statistics;
}

/// Writes first and last bytes, so that memory of others shows.
void mark(uint8_t *memory, uint64_t bytes, uint8_t value) {
  memory[0] = memory[bytes - 1] = value;
}

/// Counts what is taken and given back; may refuse.
struct Counting {
  std::atomic<int64_t> bytes{0};
  std::atomic<int> calls{0};
  std::atomic<int> refusals{0};

  Allocator get() {
    alula_allocator hooks = {};
    hooks.user = this;
    hooks.allocate = [](void *user, size_t bytes, size_t alignment) -> void * {
      auto *self = static_cast<Counting *>(user);
      ++self->calls;
      if (self->refusals > 0) {
        --self->refusals;
        return nullptr;
      }
      self->bytes += int64_t(bytes);
      return aligned_alloc(alignment,
                           (bytes + alignment - 1) / alignment * alignment);
    };
    hooks.release = [](void *user, void *memory, size_t bytes, size_t) {
      static_cast<Counting *>(user)->bytes -= int64_t(bytes);
      free(memory);
    };
    return Allocator(hooks);
  }
};

TEST(BlockCache, BlocksComeAgainForTheirSize) {
  BlockCache cache{Allocator(), 64 * mebi};
  for (uint64_t bytes : {uint64_t(65536), uint64_t(65537), uint64_t(300000),
                         mebi, 4 * mebi, 4 * mebi + 1, 33 * mebi}) {
    uint8_t *first = cache.allocate(bytes);
    ASSERT_NE(first, nullptr) << bytes;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % memoryAlignment, 0u);
    if (bytes >= hugeBytes) {
      EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % hugePage, 0u);
    }
    mark(first, bytes, 1);
    cache.release(first, bytes);
    uint8_t *again = cache.allocate(bytes), *other = cache.allocate(bytes);
    EXPECT_EQ(again, first) << bytes;
    EXPECT_NE(other, first) << bytes;
    cache.release(again, bytes);
    cache.release(other, bytes);
  }
  alula_memory_statistics statistics = read(cache);
  EXPECT_EQ(statistics.allocations, 21u);
  EXPECT_GE(statistics.reused, 7u);
  EXPECT_EQ(statistics.bytes_in_use, 0u);
}

/// No size may get a block of a smaller one; little is lost.
TEST(BlockCache, SizesAreRoundedByAnEighthAtTheMost) {
  Counting counting;
  BlockCache cache(counting.get(), 1 << 30);
  std::mt19937_64 random(1);
  for (int turn = 0; turn < 2000; ++turn) {
    uint64_t bytes = 65536 + random() % (uint64_t(1) << (17 + turn % 10));
    uint8_t *memory = cache.allocate(bytes);
    ASSERT_NE(memory, nullptr);
    uint64_t had = read(cache).bytes_in_use;
    EXPECT_GE(had, bytes);
    // The last pages of large ones are huge.
    EXPECT_LE(had, bytes + bytes / 8 + (bytes >= hugeBytes ? hugePage : 0));
    mark(memory, bytes, 7);
    cache.release(memory, bytes);
  }
  cache.trim();
  EXPECT_EQ(counting.bytes, 0);
}

TEST(BlockCache, SmallBlocksAreTheAllocators) {
  Counting counting;
  BlockCache cache(counting.get(), 64 * mebi);
  for (uint64_t bytes : {0u, 1u, 65535u}) {
    uint8_t *memory = cache.allocate(bytes);
    ASSERT_NE(memory, nullptr);
    cache.release(memory, bytes);
    EXPECT_EQ(counting.bytes, 0);
  }
  EXPECT_EQ(read(cache).allocations, 0u);
}

TEST(BlockCache, WhatWasIdleForLongestGoesFirst) {
  Counting counting;
  BlockCache cache(counting.get(), 3 * mebi);
  uint8_t *blocks[4];
  uint64_t sizes[] = {mebi, mebi + mebi / 8, mebi, mebi};
  for (int i = 0; i < 4; ++i)
    blocks[i] = cache.allocate(sizes[i]);
  for (int i = 0; i < 4; ++i)
    cache.release(blocks[i], sizes[i]);
  // The first, and then the second, made room.
  EXPECT_EQ(read(cache).bytes_kept, 2 * mebi);
  EXPECT_EQ(counting.bytes, int64_t(2 * mebi));
  EXPECT_EQ(read(cache).largest_kept, mebi);
  EXPECT_EQ(cache.allocate(mebi), blocks[3]);
  EXPECT_EQ(cache.allocate(mebi), blocks[2]);
  cache.release(blocks[2], mebi);
  cache.release(blocks[3], mebi);
}

TEST(BlockCache, ATenthOfWhatIsInUseIsKeptBesides) {
  Counting counting;
  BlockCache cache(counting.get(), mebi);
  uint8_t *live = cache.allocate(40 * mebi), *block = cache.allocate(4 * mebi);
  cache.release(block, 4 * mebi);
  EXPECT_EQ(read(cache).bytes_kept, 4 * mebi);
  // With it the bound goes down.
  cache.release(live, 40 * mebi);
  EXPECT_EQ(read(cache).bytes_kept, 0u);
  EXPECT_EQ(counting.bytes, 0);
  // What is larger than the bound makes nobody go.
  uint8_t *small = cache.allocate(65536), *large = cache.allocate(2 * mebi);
  cache.release(small, 65536);
  cache.release(large, 2 * mebi);
  EXPECT_EQ(read(cache).bytes_kept, 65536u);
}

TEST(BlockCache, WhatIsLentIsInUse) {
  Counting counting;
  BlockCache cache(counting.get(), mebi);
  cache.lend(40 * mebi);
  uint8_t *block = cache.allocate(4 * mebi);
  cache.release(block, 4 * mebi);
  EXPECT_EQ(read(cache).bytes_kept, 4 * mebi);
  EXPECT_EQ(read(cache).bytes_in_use, 0u);
  cache.lend(-40 * int64_t(mebi));
  EXPECT_EQ(read(cache).bytes_kept, 0u);
  EXPECT_EQ(counting.bytes, 0);
}

TEST(BlockCache, IsGivenBackWhenThereIsNoMemory) {
  Counting counting;
  BlockCache cache(counting.get(), 64 * mebi);
  uint8_t *block = cache.allocate(8 * mebi);
  cache.release(block, 8 * mebi);
  EXPECT_EQ(counting.bytes, int64_t(8 * mebi));
  for (uint64_t bytes : {16 * mebi, uint64_t(100)}) {
    counting.refusals = 1;
    block = cache.allocate(bytes);
    ASSERT_NE(block, nullptr) << bytes;
    EXPECT_EQ(read(cache).bytes_kept, 0u);
    cache.release(block, bytes);
  }
  counting.refusals = 2;
  EXPECT_EQ(cache.allocate(24 * mebi), nullptr);
  EXPECT_EQ(cache.allocate(uint64_t(1) << 60), nullptr);
  EXPECT_EQ(read(cache).bytes_in_use, 0u);
}

/// Of mapped blocks, all pages go back to the system.
TEST(BlockCache, MappedBlocksAreUnmapped) {
  uint64_t bytes = 7 * mebi + 5;
  uint8_t *block;
  unsigned char resident;
  {
    BlockCache cache(Allocator(), 64 * mebi);
    block = cache.allocate(bytes);
    ASSERT_NE(block, nullptr);
    mark(block, bytes, 3);
    cache.release(block, bytes);
    EXPECT_EQ(mincore(block, 4096, &resident), 0);
    cache.trim();
    EXPECT_EQ(read(cache).bytes_kept, 0u);
    EXPECT_NE(mincore(block, 4096, &resident), 0);
    block = cache.allocate(bytes);
    cache.release(block, bytes);
  }
  EXPECT_NE(mincore(block, 4096, &resident), 0);
}

TEST(BlockCache, ThreadsNeverHaveOneBlockTogether) {
  Counting counting;
  {
    BlockCache cache(counting.get(), 2 * mebi);
    std::vector<std::thread> threads;
    std::atomic<int> shared{0};
    for (uint8_t number = 1; number <= 8; ++number)
      threads.emplace_back([&, number] {
        std::mt19937 random(number);
        for (int turn = 0; turn < 2000; ++turn) {
          uint64_t bytes = 65536u << random() % 4;
          uint8_t *memory = cache.allocate(bytes);
          mark(memory, bytes, number);
          if (turn % 100 == 0)
            cache.trim();
          if (memory[0] != number || memory[bytes - 1] != number)
            ++shared;
          cache.release(memory, bytes);
        }
      });
    for (std::thread &thread : threads)
      thread.join();
    EXPECT_EQ(shared, 0);
    EXPECT_EQ(read(cache).bytes_in_use, 0u);
    EXPECT_LE(read(cache).peak_bytes_kept, 2 * mebi + mebi);
    EXPECT_GT(read(cache).reused, 1000u);
  }
  EXPECT_EQ(counting.bytes, 0);
}

} // namespace
} // namespace alula::runtime::host
