/* Blocks of a matrix with rows and columns exchanged. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* to[i * to_row + j] = from[j * from_row + i] for i < rows and j < columns, for
 * elements of 8, 16, 32 and 64 bits. Nothing overlaps. */
void alula_transpose_8(uint8_t *to, int64_t to_row, const uint8_t *from,
                       int64_t from_row, int64_t rows, int64_t columns);
void alula_transpose_16(uint16_t *to, int64_t to_row, const uint16_t *from,
                        int64_t from_row, int64_t rows, int64_t columns);
void alula_transpose_32(uint32_t *to, int64_t to_row, const uint32_t *from,
                        int64_t from_row, int64_t rows, int64_t columns);
void alula_transpose_64(uint64_t *to, int64_t to_row, const uint64_t *from,
                        int64_t from_row, int64_t rows, int64_t columns);

#ifdef __cplusplus
}
#endif
