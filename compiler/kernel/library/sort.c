// Sorting by the digits of keys, the last one first. Many pairs are parted by
// their first digit before, so that the other passes stay in the cache.
#include "compiler/kernel/library/sort.h"

#include <stddef.h>

#define INLINE static inline __attribute__((always_inline))
#define NOINLINE static __attribute__((noinline))
#define PASTE(a, b) a##_##b
#define EXPAND(a, b) PASTE(a, b)

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

#define BITS 32
typedef uint64_t pair_32;
INLINE uint64_t key_32(pair_32 pair) { return pair >> 32; }
#include "compiler/kernel/library/sort.inc"
#undef BITS

#define BITS 64
typedef struct pair_64 {
  uint64_t key, other;
} pair_64;
INLINE uint64_t key_64(pair_64 pair) { return pair.key; }
#include "compiler/kernel/library/sort.inc"
#undef BITS
