// Sorting by the digits of keys, the last one first. Many pairs are parted by
// their first digit before, so that the other passes stay in the cache.
#include "compiler/kernel/library/sort.h"

#include <stddef.h>

#define INLINE static inline __attribute__((always_inline))
#define NOINLINE static __attribute__((noinline))
#define PASTE(a, b, c) a##_##b##_##c
#define EXPAND(a, b, c) PASTE(a, b, c)

/* Before a loop that is as fast as it is written. */
#define AS_WRITTEN                                                             \
  _Pragma("clang loop unroll(disable) vectorize(disable) interleave(disable)")

enum {
  LONG_DIGIT = 11,
  /* Counting takes as long as moving so many pairs. */
  SHORT_DIGIT = 8,
  FEW = 2048,
  /* Insertion is faster below. */
  VERY_FEW = 48,
  /* More pairs don't stay in a cache, whose size is in bytes. */
  CACHED_BYTES = 1 << 20
};

#define KIND keys
#define BITS 32
#define ITEM uint32_t
#define KEY(item) ((uint64_t)(item))
#include "compiler/kernel/library/sort.inc"

#define BITS 64
#define ITEM uint64_t
#define KEY(item) (item)
#include "compiler/kernel/library/sort.inc"
#undef KIND

#define KIND pairs
#define BITS 32
#define ITEM uint64_t
#define KEY(item) ((item) >> 32)
#include "compiler/kernel/library/sort.inc"

typedef struct pair_64 {
  uint64_t key, other;
} pair_64;
#define BITS 64
#define ITEM pair_64
#define KEY(item) ((item).key)
#include "compiler/kernel/library/sort.inc"
#undef KIND
