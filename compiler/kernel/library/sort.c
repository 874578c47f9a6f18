// Sorting by the digits of keys. Few items: the last digit first. Many are parted
// by their first digit, chunk by chunk, so that places stay in a cache; then the
// items of each digit, whose pieces are in all chunks, are sorted by themselves.
// Keys alone are parted by the next digit until only some have both in common,
// which a network of vectors sorts. With AVX-512 vectors of items are compared
// instead (sort_vector.inc), and what parts chunks are samples of the items.
#include "compiler/kernel/library/code_forms.h"
#include "compiler/kernel/library/machine_facts.h"
#include "compiler/kernel/library/sort.h"
#include "compiler/kernel/library/sort_ways.h"

#include <stddef.h>

enum {
  /* ALULA_SORT_ENDS are 2^LONG_DIGIT. */
  LONG_DIGIT = 11,
  /* Counting takes as long as moving so many items. */
  SHORT_DIGIT = 8,
  FEW = 2048,
  /* Insertion is faster below. */
  VERY_FEW = 48,
  /* Neighbouring digits that so few items have are sorted together. */
  JOINED = 1 << 12,
  /* As many parts as such samples part well, and no more samples. */
  SAMPLES_OF_PART = 8,
  MOST_SAMPLES = 1024
};

/// How many items come before those whose digit is `digit`.
INLINE int64_t count_before(const uint32_t *ends, int64_t chunks,
                            int64_t digit) {
  int64_t sum = 0;
  if (digit)
    for (int64_t c = 0; c < chunks; ++c)
      sum += ends[c * ALULA_SORT_ENDS + digit - 1];
  return sum;
}

/// Ranges are of whole digits.
NOINLINE int64_t find_first_digit(int64_t count, int64_t chunks,
                                  const uint32_t *ends, int64_t range,
                                  int64_t ranges) {
  int64_t wanted = range * count / ranges;
  int64_t low = 0, high = ALULA_SORT_ENDS;
  AS_WRITTEN
  while (low < high) {
    int64_t middle = (low + high) / 2;
    if (count_before(ends, chunks, middle) < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

int64_t alula_sort_begin(int64_t count, int64_t chunks, const void *ends,
                         int64_t range, int64_t ranges) {
  return count_before(ends, chunks,
                      find_first_digit(count, chunks, ends, range, ranges));
}

INLINE int count_bits(uint64_t number) {
  return number ? 64 - __builtin_clzll(number) : 0;
}

/// The lowest bit of the first digit in which keys differ.
INLINE int find_shift(const uint64_t *bits, int64_t chunks) {
  uint64_t some = 0, all = ~(uint64_t)0;
  for (int64_t i = 0; i < chunks; ++i) {
    some |= bits[2 * i];
    all &= bits[2 * i + 1];
  }
  int top = count_bits(some & ~all);
  return top > LONG_DIGIT ? top - LONG_DIGIT : 0;
}

/// From numbers of items to the place of each digit's first one.
INLINE void sum_up(uint32_t *counts, int64_t size) {
  uint32_t sum = 0;
  AS_WRITTEN
  for (int64_t d = 0; d < size; ++d) {
    uint32_t count = counts[d];
    counts[d] = sum;
    sum += count;
  }
}

/* A network of vectors of LANES puts up to NETWORK keys in order; where about
 * 2^GROUP_BITS are expected, there are seldom more. It would not keep the order
 * of pairs, or take longer than their digits. */
#define KIND keys
#define BITS 32
#define ITEM uint32_t
#define LANES 16
#define NETWORK 64
#define GROUP_BITS 4
#define VECTORS(name) LOCAL(name)
#define FROM_SAMPLE(sample) ((ITEM)((sample) >> 32))
#define KEY(item) ((uint64_t)(item))
#include "compiler/kernel/library/sort.inc"

#define BITS 64
#define ITEM uint64_t
#define LANES 8
#define NETWORK 32
#define GROUP_BITS 3
#define VECTORS(name) LOCAL(name)
#define FROM_SAMPLE(sample) (sample)
#define KEY(item) (item)
#include "compiler/kernel/library/sort.inc"
#undef KIND

#define KIND pairs
#define BITS 32
#define ITEM uint64_t
#define NETWORK 0
/* What belongs to equal keys is in order, so whole items may be compared. */
#define VECTORS(name) EXPAND(name, keys, 64)
#define FROM_SAMPLE(sample) (sample)
#define KEY(item) ((item) >> 32)
#include "compiler/kernel/library/sort.inc"

typedef struct pair_64 {
  uint64_t key, other;
} pair_64;
#define BITS 64
#define ITEM pair_64
#define NETWORK 0
#define KEY(item) ((item).key)
#include "compiler/kernel/library/sort.inc"
#undef KIND
