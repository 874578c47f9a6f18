/* Sorting by numbers: keys, or pairs of a key and whatever belongs to it. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of `scratch`. */
enum { ALULA_SORT_SCRATCH_BYTES = 4 * 7 * 2048 };

/* Sorts items by their keys, unsigned numbers; those with equal keys keep their
 * order. `other` has room for as many items, of which there are fewer than 2^32.
 *
 * Keys of 32 and 64 bits alone: */
void alula_sort_keys_32(void *items, void *other, int64_t count, void *scratch);
void alula_sort_keys_64(void *items, void *other, int64_t count, void *scratch);
/* Keys of 32 bits that are the upper half of an item of 64; keys of 64 bits that
 * come before the other 64 of their item: */
void alula_sort_pairs_32(void *items, void *other, int64_t count, void *scratch);
void alula_sort_pairs_64(void *items, void *other, int64_t count, void *scratch);

#ifdef __cplusplus
}
#endif
