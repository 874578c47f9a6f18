/* Blocks of a matrix with rows and columns exchanged. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A strip has at most so many rows; bytes of `scratch`. */
#define ALULA_TRANSPOSE_STRIP(bits) ((bits) < 16 ? 128 : 2048 / (bits))
enum { ALULA_TRANSPOSE_SCRATCH = 128 * 384 + 64 };

/* to[i * to_row + j] = from[j * from_row + i] for i < rows and j < columns, for
 * elements of 8, 16, 32, 64 and 128 bits. Nothing overlaps.
 *   alula_transpose_<bits>(to, to_row, from, from_row, rows, columns)
 *       for a block that stays in a cache, where others find it,
 *   alula_transpose_strip_<bits>(…, scratch)
 *       for a strip of many columns of what no cache holds: `to` is written past
 *       them, by whole lines. */
#define ALULA_TRANSPOSE(bits)                                                  \
  void alula_transpose_##bits(void *to, int64_t to_row, const void *from,      \
                              int64_t from_row, int64_t rows,                  \
                              int64_t columns);                                \
  void alula_transpose_strip_##bits(void *to, int64_t to_row,                  \
                                    const void *from, int64_t from_row,        \
                                    int64_t rows, int64_t columns,             \
                                    void *scratch);
ALULA_TRANSPOSE(8)
ALULA_TRANSPOSE(16)
ALULA_TRANSPOSE(32)
ALULA_TRANSPOSE(64)
ALULA_TRANSPOSE(128)
#undef ALULA_TRANSPOSE

#ifdef __cplusplus
}
#endif
