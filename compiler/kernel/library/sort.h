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
 *   alula_sort_part_<items>(chunk, parted, size, bits, chunks, samples, sampled,
 *                           ends)
 *       parts the items of a chunk into `parted`; the chunk is lost. They are parted
 *       by a digit of their keys, or, by machines that sort vectors of such items,
 *       between samples. `bits` are for each of all chunks two numbers of 64 bits:
 *       those that some key has, and those that all have. `samples` are `sampled`
 *       ones of all chunks, if any, 64 bits each: pairs_32, or keys_64. In `ends`,
 *       ALULA_SORT_ENDS for each chunk, is where each digit's or part's items end.
 *   alula_sort_range_<items>(parted, sorted, spare, count, bits, chunks, ends,
 *                            range, ranges, scratch)
 *       sorts from `alula_sort_begin(count, chunks, ends, range, ranges)` to before
 *       that of the next range; the rest of `sorted` and `spare` stays as it is. */
int64_t alula_sort_begin(int64_t count, int64_t chunks, const void *ends,
                         int64_t range, int64_t ranges);

#define ALULA_SORT(name)                                                       \
  void alula_sort_##name(void *items, void *other, int64_t count,              \
                         void *scratch);                                       \
  void alula_sort_part_##name(void *chunk, void *parted, int64_t size,         \
                              const void *bits, int64_t chunks,                \
                              const void *samples, int64_t sampled,            \
                              void *ends);                                     \
  void alula_sort_range_##name(const void *parted, void *sorted, void *spare,  \
                               int64_t count, const void *bits,                \
                               int64_t chunks, const void *ends,               \
                               int64_t range, int64_t ranges, void *scratch);
ALULA_SORT(keys_32)
ALULA_SORT(keys_64)
ALULA_SORT(pairs_32)
ALULA_SORT(pairs_64)
#undef ALULA_SORT

/* Rows of numbers in memory that become such items, and back. A number of BITS bits
 * has the key `bits ^ (bits is negative ? negative : positive)`; with `has_equals`
 * floats are first zero if they are any zero, and `nan` if they are any NaN.
 *
 *   alula_sort_find_<BITS>(row, keys, count, order…, bits, differs)
 * tells, where these are not null, what keys there are, which bits some and which
 * all of them have, and where numbers are not what their keys tell: that is what it
 * returns, too.
 *   alula_sort_survey_<BITS>(row, keys, first, count, order…, bits, samples, needed,
 *                            differs)
 * tells of numbers whose places begin with `first` what parting them takes, as above:
 * their bits, or `needed` samples; the other memory may stay as it is. `keys` and
 * `differs` are as for `find`, but `differs` is told with keys only.
 *   alula_sort_make_keys_<BITS>, alula_sort_make_pairs_<BITS>
 *       (row, items, first, count, order…)
 * makes the items of numbers whose places begin with `first`.
 *   alula_sort_take_keys_<BITS>(keys, sorted, count, positive, negative)
 * puts down the numbers that have the keys.
 *   alula_sort_restore_<BITS>(row, whole, sorted, count, order…, differs)
 * where `sorted` are numbers that have been put down, some of those of the row, which
 * has `whole` ones, makes zeros and NaNs what they were, in the row's order, if
 * `differs` is not 0.
 *   alula_sort_take_pairs_<BITS>(pairs, row, sorted, count, bytes)
 * puts down the elements of the row, of so many bytes, 1, 2, 4 or 8, that are at the
 * places of pairs; where it is null, the places.
 *   alula_sort_first_<BITS>(row, pairs, count, needed, order…)
 * makes pairs of the first `needed` numbers of the row, in order.
 *   alula_sort_any(numbers, count)
 * says whether one of these, of 64 bits, is not zero. */
int64_t alula_sort_any(const void *numbers, int64_t count);

#define ALULA_SORT(bits_of_number)                                             \
  int64_t alula_sort_find_##bits_of_number(                                    \
      const void *row, void *keys, int64_t count, int64_t positive,            \
      int64_t negative, int64_t has_equals, int64_t nan, void *bits,           \
      void *differs);                                                          \
  void alula_sort_survey_##bits_of_number(                                     \
      const void *row, void *keys, int64_t first, int64_t count,               \
      int64_t positive, int64_t negative, int64_t has_equals, int64_t nan,     \
      void *bits, void *samples, int64_t needed, void *differs);               \
  void alula_sort_restore_##bits_of_number(                                    \
      const void *row, int64_t whole, void *sorted, int64_t count,             \
      int64_t positive, int64_t negative, int64_t has_equals, int64_t nan,     \
      int64_t differs);                                                        \
  void alula_sort_make_keys_##bits_of_number(                                  \
      const void *row, void *keys, int64_t first, int64_t count,               \
      int64_t positive, int64_t negative, int64_t has_equals, int64_t nan);    \
  void alula_sort_make_pairs_##bits_of_number(                                 \
      const void *row, void *pairs, int64_t first, int64_t count,              \
      int64_t positive, int64_t negative, int64_t has_equals, int64_t nan);    \
  void alula_sort_take_keys_##bits_of_number(                                  \
      const void *keys, void *sorted, int64_t count, int64_t positive,         \
      int64_t negative);                                                       \
  void alula_sort_take_pairs_##bits_of_number(                                 \
      const void *pairs, const void *row, void *sorted, int64_t count,         \
      int64_t bytes);                                                          \
  void alula_sort_first_##bits_of_number(                                      \
      const void *row, void *pairs, int64_t count, int64_t needed,             \
      int64_t positive, int64_t negative, int64_t has_equals, int64_t nan);
ALULA_SORT(32)
ALULA_SORT(64)
#undef ALULA_SORT

#ifdef __cplusplus
}
#endif
