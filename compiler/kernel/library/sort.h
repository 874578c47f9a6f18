/* Sorting by numbers: pairs of a key and whatever belongs to it. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of `scratch`. */
enum { ALULA_SORT_SCRATCH_BYTES = 4 * 7 * 2048 };

/* Sorts by keys, unsigned numbers; those with equal keys keep their order. Keys
 * of 32 bits are the upper half of a pair of 64; those of 64 bits come before
 * 64 bits of their pair. `other` has room for as many pairs, of which there are
 * fewer than 2^32. */
void alula_sort_32(uint64_t *pairs, uint64_t *other, int64_t count,
                   void *scratch);
void alula_sort_64(uint64_t *pairs, uint64_t *other, int64_t count,
                   void *scratch);

#ifdef __cplusplus
}
#endif
