/* Sorting by numbers: keys, or pairs of a key and whatever belongs to it. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sizes of memory in numbers of 32 bits: `scratch`, and `ends` of one chunk. */
enum { ALULA_SORT_SCRATCH = 8 * 2048, ALULA_SORT_ENDS = 2048 };

/* Items are sorted by their keys, unsigned numbers; those with equal keys keep
 * their order. They are, by the name's end:
 *   keys_32, keys_64   keys alone,
 *   pairs_32           a key in the upper half of 64 bits; those with equal keys
 *                      come with lower halves that ascend,
 *   pairs_64           64 bits of key, then 64 others.
 * There are fewer than 2^32.
 *
 *   alula_sort_<items>(items, other, count, scratch)
 * sorts `items` that are few enough for a cache; `other` has room for as many.
 *
 * Many are cut into chunks of ceil(count / chunks) items, at most the square root
 * of `count` many; the last one has what is left. Then come two steps, each for
 * all chunks or ranges, in any order or at once:
 *   alula_sort_part_<items>(chunk, parted, size, bits, chunks, ends)
 *       parts the items of a chunk by a digit of their keys, into `parted`. `bits`
 *       are for each of all chunks two numbers of 64 bits: those that some key has,
 *       and those that all have. In `ends`, ALULA_SORT_ENDS for each chunk, is where
 *       each digit's items end.
 *   alula_sort_range_<items>(parted, sorted, spare, count, bits, chunks, ends,
 *                            range, ranges, scratch)
 *       sorts from `alula_sort_begin(count, chunks, ends, range, ranges)` to before
 *       that of the next range; the rest of `sorted` and `spare` stays as it is. */
int64_t alula_sort_begin(int64_t count, int64_t chunks, const void *ends,
                         int64_t range, int64_t ranges);

#define ALULA_SORT(name)                                                       \
  void alula_sort_##name(void *items, void *other, int64_t count,              \
                         void *scratch);                                       \
  void alula_sort_part_##name(const void *chunk, void *parted, int64_t size,   \
                              const void *bits, int64_t chunks, void *ends);   \
  void alula_sort_range_##name(const void *parted, void *sorted, void *spare,  \
                               int64_t count, const void *bits,                \
                               int64_t chunks, const void *ends,               \
                               int64_t range, int64_t ranges, void *scratch);
ALULA_SORT(keys_32)
ALULA_SORT(keys_64)
ALULA_SORT(pairs_32)
ALULA_SORT(pairs_64)
#undef ALULA_SORT

#ifdef __cplusplus
}
#endif
