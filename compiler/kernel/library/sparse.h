/* Products with matrices of which the elements that are not zero are listed:
 * the values, and of each the row and the column, in any order. Values at one
 * place add up. A negative row or column counts from the end; one that still is
 * none of the matrix has zeros in the dense matrix, and no row of a result.
 *
 * Each call does the `part`th of `parts` parts for the `matrix`th matrix of a
 * batch, whose matrices lie one after the other in all arrays. Parts may run at
 * the same time. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Columns of c from which on a list in any order is divided by columns: two
 * vectors of 64 bytes. */
enum { ALULA_SPARSE_STRIP_BYTES = 128 };

/* First order[matrix * parts + part]: whether a part of a list of pairs, and
 * the next place, is in order of rows. `indices` has two numbers for each of
 * `count` values: row and column, or with `transposed` column and row. */
void alula_sparse_order(int32_t *order, int64_t m, const int32_t *indices,
                        int64_t count, int32_t transposed, int64_t matrix,
                        int64_t part, int64_t parts);

/* Then c = S b, m x n: b has k rows, S is m x k. `order` may be NULL: nobody
 * has looked whether the list is in order. `copies` is NULL or has
 * parts * m * n numbers for each matrix: for lists in no order whose c has few
 * columns. If it is not NULL, `sparse_join` has to follow. Without it, values
 * are added in order. */
#define ALULA_SPARSE_PRODUCT(type, element)                                    \
  void alula_sparse_product_##type(                                            \
      element *c, int64_t m, int64_t n, const element *values,                 \
      const int32_t *indices, int64_t count, const element *b, int64_t k,      \
      int32_t transposed, const int32_t *order, element *copies,               \
      int64_t matrix, int64_t part, int64_t parts);                            \
  void alula_sparse_join_##type(element *c, int64_t m, int64_t n,              \
                                const int32_t *order, const element *copies,   \
                                int64_t matrix, int64_t part, int64_t parts);
ALULA_SPARSE_PRODUCT(f32, float)
ALULA_SPARSE_PRODUCT(f64, double)
#undef ALULA_SPARSE_PRODUCT

/* The same of a list in order of rows: those of row r are at the places
 * starts[r] to starts[r + 1]. A place that is none of the list is not read. */
#define ALULA_SPARSE_ROWS_PRODUCT(type, element)                               \
  void alula_sparse_rows_product_##type(                                       \
      element *c, int64_t m, int64_t n, const element *values,                 \
      const int32_t *starts, const int32_t *columns, int64_t count,            \
      const element *b, int64_t k, int64_t matrix, int64_t part,               \
      int64_t parts);
ALULA_SPARSE_ROWS_PRODUCT(f32, float)
ALULA_SPARSE_ROWS_PRODUCT(f64, double)
#undef ALULA_SPARSE_ROWS_PRODUCT

/* The elements of a b' at the places of a list: a is m x p, b is n x p, and an
 * element is the product of a row of each. */
#define ALULA_SPARSE_SAMPLED(type, element)                                    \
  void alula_sparse_sampled_##type(                                            \
      element *out, const element *a, int64_t m, const element *b, int64_t n,  \
      int64_t p, const int32_t *indices, int64_t count, int64_t matrix,        \
      int64_t part, int64_t parts);
ALULA_SPARSE_SAMPLED(f32, float)
ALULA_SPARSE_SAMPLED(f64, double)
#undef ALULA_SPARSE_SAMPLED

#ifdef __cplusplus
}
#endif
