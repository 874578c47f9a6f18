/* A part of an image with zeros around it. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* `rows` times `columns` pixels of `bytes` bytes, one after the other, from row
 * `first_row` and column `first_column` of an image on. What is not below
 * `row_limit` and `column_limit`, or negative, is zero. The image's rows and
 * columns are `from_row` and `from_column` bytes apart. Nothing overlaps. */
void alula_copy_window(char *to, int64_t rows, int64_t columns, int64_t bytes,
                       const char *from, int64_t from_row, int64_t from_column,
                       int64_t first_row, int64_t row_limit,
                       int64_t first_column, int64_t column_limit);

#ifdef __cplusplus
}
#endif
