/* Products with matrices of which the elements that are not zero are listed:
 * the values, and of each the row and the column, in any order. Values at one
 * place add up. A negative row or column counts from the end; one that still is
 * none of the matrix has zeros in the dense matrix, and no row of a result. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of each row of c that one call computes at most: two vectors. */
enum { ALULA_SPARSE_STRIP_BYTES = 128 };

/* Columns first to first + columns of c = S b. c has m rows and n columns, b
 * has k rows, S is m x k. `indices` has two numbers for each of `count` values:
 * row and column, or with `transposed` column and row. Values are added in
 * order. */
#define ALULA_SPARSE_PRODUCT(type, element)                                    \
  void alula_sparse_product_##type(                                            \
      element *c, int64_t m, int64_t n, const element *values,                 \
      const int32_t *indices, int64_t count, const element *b, int64_t k,      \
      int32_t transposed, int64_t first, int64_t columns);
ALULA_SPARSE_PRODUCT(f32, float)
ALULA_SPARSE_PRODUCT(f64, double)
#undef ALULA_SPARSE_PRODUCT

/* The elements of a b' at the places first to first + count: a is m x p, b is
 * n x p, and an element is the product of a row of each. */
#define ALULA_SPARSE_SAMPLED(type, element)                                    \
  void alula_sparse_sampled_##type(                                            \
      element *out, const element *a, int64_t m, const element *b, int64_t n,  \
      int64_t p, const int32_t *indices, int64_t first, int64_t count);
ALULA_SPARSE_SAMPLED(f32, float)
ALULA_SPARSE_SAMPLED(f64, double)
#undef ALULA_SPARSE_SAMPLED

#ifdef __cplusplus
}
#endif
