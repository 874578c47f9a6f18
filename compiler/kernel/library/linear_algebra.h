/* Factorizations and solvers of batches of row-major matrices.
 *
 * Each function exists for f32, f64, c64 and c128; the pointers are to that
 * element type (complex numbers are pairs), where a comment says "real" to its
 * real type. Every array is contiguous, the batch its outermost dimension;
 * matrices may have no rows or columns. Inputs and outputs do not overlap
 * unless a comment allows it. `scratch` has the bytes that
 * alula_<function>_scratch_bytes tells, aligned to 16; the batch does not
 * change them, and every element of the batch is done alone, so a caller may
 * split it among threads, each with a scratch of its own.
 *
 * A factorization that fails (not definite, no convergence, NaN or infinity
 * where that is fatal) fills its outputs for that matrix with NaN. Where there
 * is an `info`, it is set to 0 or to the reason; it may be null.
 *
 * What takes cubic time reads `cancel` between its blocks, rows or steps: once
 * that is not 0 it ends soon, whatever is in its outputs then. It may be null. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Reflectors are applied in blocks of this many. */
enum { ALULA_REFLECTOR_BLOCK = 32 };
/* Blocks that are applied to the same columns, one after the other. */
enum { ALULA_REFLECTOR_GROUP = 4 * ALULA_REFLECTOR_BLOCK };
/* Reductions from both sides have panels of this many. */
enum { ALULA_REDUCTION_PANEL = 32 };

/* Schur forms of so many rows and more go by chains of so many bulges at most,
 * so many rows at a time, with so many shifts altogether; windows in which
 * eigenvalues are deflated have at most so many rows, and are applied to strips
 * of so many columns. The scratch of all this has so many elements. */
enum {
  ALULA_SCHUR_LEAST = 128,
  ALULA_SCHUR_BULGES = 16,
  ALULA_SCHUR_MOVES = 48,
  ALULA_SCHUR_SHIFTS = 64,
  ALULA_SCHUR_WINDOW = 144,
  ALULA_SCHUR_STRIP = 256,
  ALULA_SCHUR_PLACES = ALULA_SCHUR_MOVES + 3 * ALULA_SCHUR_BULGES + 8,
  ALULA_SCHUR_CHAIN_ELEMENTS =
      ALULA_SCHUR_WINDOW * (2 * ALULA_SCHUR_WINDOW + ALULA_SCHUR_STRIP + 2) +
      ALULA_SCHUR_PLACES * (ALULA_SCHUR_PLACES + 64) +
      5 * ALULA_SCHUR_BULGES * ALULA_SCHUR_MOVES + 64
};

static inline int64_t alula_smaller_size(int64_t a, int64_t b) {
  return a < b ? a : b;
}
static inline int64_t alula_larger_size(int64_t a, int64_t b) {
  return a > b ? a : b;
}

/* Reflectors of a group, a number of blocks. */
static inline int64_t alula_reflector_group(int64_t count) {
  int64_t blocks = (count + ALULA_REFLECTOR_BLOCK - 1) / ALULA_REFLECTOR_BLOCK;
  return alula_smaller_size(ALULA_REFLECTOR_BLOCK *
                                alula_larger_size(blocks, 1),
                            ALULA_REFLECTOR_GROUP);
}

/* Scratch of up to min(m, n) reflectors of m that are applied to n columns. */
static inline int64_t alula_reflector_elements(int64_t m, int64_t n) {
  return alula_reflector_group(alula_smaller_size(m, n)) *
             (m + ALULA_REFLECTOR_BLOCK) +
         ALULA_REFLECTOR_BLOCK * n;
}

/* Declares a function for the four types. */
#define ALULA_FOR_EACH_ELEMENT(DECLARE)                                        \
  DECLARE(f32) DECLARE(f64) DECLARE(c64) DECLARE(c128)

/* cholesky: a = l l^H (lower) or u^H u of the n by n matrices a, of which one
 * triangle is read; the other one of the result is a's. info: 1 + the first row
 * whose pivot is not positive. */
#define ALULA_DECLARE(T)                                                       \
  void alula_cholesky_##T(                                                     \
      const void *a, void *result, int32_t *info, int64_t batch, int64_t n,    \
      int32_t lower, const int32_t *cancel);
ALULA_FOR_EACH_ELEMENT(ALULA_DECLARE)
#undef ALULA_DECLARE

/* triangular_solve: op(a) x = b (left, a m by m) or x op(a) = b (a n by n)
 * for b of m by n. transpose: 0 a, 1 its transpose, 2 its adjoint. Only the
 * triangle that `lower` names is read, without the diagonal if `unit`. x may
 * be b itself. A zero on the diagonal divides as it is. */
#define ALULA_DECLARE(T)                                                       \
  void alula_triangular_solve_##T(                                             \
      const void *a, const void *b, void *x, int64_t batch, int64_t m,         \
      int64_t n, int32_t left, int32_t lower, int32_t unit, int32_t transpose, \
      const int32_t *cancel);
ALULA_FOR_EACH_ELEMENT(ALULA_DECLARE)
#undef ALULA_DECLARE

/* tridiagonal_solve: x in (dl, d, du) x = b, b of n by columns, by elimination
 * with partial pivoting. dl[0] and du[n - 1] are not read. A pivot of zero
 * fails with info = 1 + its row, unless `perturb`: then pivots smaller than
 * epsilon times the greatest element are replaced by that. x may be b. */
#define ALULA_DECLARE(T)                                                       \
  void alula_tridiagonal_solve_##T(                                            \
      const void *dl, const void *d, const void *du, const void *b, void *x,   \
      int32_t *info, int64_t batch, int64_t n, int64_t columns,                \
      int32_t perturb, void *scratch);
ALULA_FOR_EACH_ELEMENT(ALULA_DECLARE)
#undef ALULA_DECLARE
static inline int64_t
alula_tridiagonal_solve_scratch_bytes(int64_t n, int64_t element_bytes) {
  return 4 * n * element_bytes;
}

/* lu: p a = l u of m by n matrices with partial pivoting, l (unit) and u in
 * one matrix. pivots[k], k < min(m, n), is the row (from 0) that step k swaps
 * with row k; permutation (m, may be null) lists the rows of p a. packed may
 * be a. A zero pivot is kept, its column not divided. */
#define ALULA_DECLARE(T)                                                       \
  void alula_lu_##T(                                                           \
      const void *a, void *packed, int32_t *pivots, int32_t *permutation,      \
      int64_t batch, int64_t m, int64_t n, const int32_t *cancel);
ALULA_FOR_EACH_ELEMENT(ALULA_DECLARE)
#undef ALULA_DECLARE

/* The permutation of `size` rows that `count` swaps make. A pivot outside the
 * rows is not followed. */
void alula_lu_pivots_to_permutation_i32(const int32_t *pivots,
                                        int32_t *permutation, int64_t batch,
                                        int64_t count, int64_t size);

/* qr: a = q r of m by n matrices as LAPACK's geqrf packs it: r in the upper
 * triangle, below it the reflectors' vectors, and min(m, n) taus;
 * q = H_0 H_1 ..., H_k = 1 - tau v v^H. packed may be a. */
#define ALULA_DECLARE(T)                                                       \
  void alula_qr_##T(                                                           \
      const void *a, void *packed, void *taus, int64_t batch, int64_t m,       \
      int64_t n, void *scratch, const int32_t *cancel);
ALULA_FOR_EACH_ELEMENT(ALULA_DECLARE)
#undef ALULA_DECLARE
static inline int64_t alula_qr_scratch_bytes(int64_t m, int64_t n,
                                             int64_t element_bytes) {
  return alula_reflector_elements(m, n) * element_bytes;
}

/* qr_pivoted: a[:, p] = q r as LAPACK's geqp3: columns (n, from 1) is p; a
 * column whose element in `fixed` (n, may be null) is not 0 comes first. */
#define ALULA_DECLARE(T)                                                       \
  void alula_qr_pivoted_##T(                                                   \
      const void *a, const int32_t *fixed, void *packed, int32_t *columns,     \
      void *taus, int64_t batch, int64_t m, int64_t n, void *scratch,          \
      const int32_t *cancel);
ALULA_FOR_EACH_ELEMENT(ALULA_DECLARE)
#undef ALULA_DECLARE
static inline int64_t alula_qr_pivoted_scratch_bytes(int64_t m, int64_t n,
                                                     int64_t element_bytes) {
  return (m + 2) * n * element_bytes;
}

/* householder_product: the first n columns of H_0 ... H_(count-1), of m by n;
 * the vectors lie below the diagonal of packed (m by n),
 * count <= min(m, n). */
#define ALULA_DECLARE(T)                                                       \
  void alula_householder_product_##T(                                          \
      const void *packed, const void *taus, void *q, int64_t batch, int64_t m, \
      int64_t n, int64_t count, void *scratch, const int32_t *cancel);
ALULA_FOR_EACH_ELEMENT(ALULA_DECLARE)
#undef ALULA_DECLARE
static inline int64_t
alula_householder_product_scratch_bytes(int64_t m, int64_t n,
                                        int64_t element_bytes) {
  return alula_qr_scratch_bytes(m, n, element_bytes);
}

/* householder_multiply: result = q c or c q, or with q^H if `adjoint`, for c
 * of rows by columns; packed has k = rows (left) or columns rows and
 * packed_columns columns, count <= both. result may be c. */
#define ALULA_DECLARE(T)                                                       \
  void alula_householder_multiply_##T(                                         \
      const void *packed, const void *taus, const void *c, void *result,      \
      int64_t batch, int64_t rows, int64_t columns, int64_t packed_columns,    \
      int64_t count, int32_t left, int32_t adjoint, void *scratch,             \
      const int32_t *cancel);
ALULA_FOR_EACH_ELEMENT(ALULA_DECLARE)
#undef ALULA_DECLARE
static inline int64_t
alula_householder_multiply_scratch_bytes(int64_t rows, int64_t columns,
                                         int64_t element_bytes) {
  return alula_qr_scratch_bytes(rows, columns, element_bytes);
}

/* tridiagonal: a Hermitian n by n matrix, of which one triangle is read,
 * reduced to the real diagonal d (n) and off-diagonal e (n - 1) as LAPACK's
 * sytrd and hetrd do; packed has d, e and the reflectors in that triangle and
 * a's elements in the other; taus has n - 1. */
#define ALULA_DECLARE(T)                                                       \
  void alula_tridiagonal_##T(                                                  \
      const void *a, void *packed, void *d, void *e, void *taus,               \
      int64_t batch, int64_t n, int32_t lower, void *scratch,                  \
      const int32_t *cancel);
ALULA_FOR_EACH_ELEMENT(ALULA_DECLARE)
#undef ALULA_DECLARE
static inline int64_t alula_tridiagonal_scratch_bytes(int64_t n,
                                                      int64_t element_bytes) {
  return (n + 3 * ALULA_REDUCTION_PANEL + 4) * n * element_bytes;
}

/* eigen_symmetric: eigenvalues w (real, n, ascending) of a Hermitian n by n
 * matrix, of which one triangle is read, and, unless v is null, orthonormal
 * eigenvectors as the columns of v. info: 0, or 1 for NaN and infinity, 2 for
 * no convergence. */
#define ALULA_DECLARE(T)                                                       \
  void alula_eigen_symmetric_##T(                                              \
      const void *a, void *w, void *v, int32_t *info, int64_t batch,           \
      int64_t n, int32_t lower, void *scratch, const int32_t *cancel);
ALULA_FOR_EACH_ELEMENT(ALULA_DECLARE)
#undef ALULA_DECLARE
static inline int64_t
alula_eigen_symmetric_scratch_bytes(int64_t n, int64_t element_bytes) {
  return (3 * n * n + (3 * ALULA_REDUCTION_PANEL + 36) * n +
          alula_reflector_elements(n, n)) *
         element_bytes;
}

/* svd: a = u diag(s) vh of m by n matrices, s (real, min(m, n)) descending. u
 * is m by m and vh n by n if `full`, else m by k and k by n, k = min(m, n). u
 * and vh are both null if only s is wanted. info as in eigen_symmetric. */
#define ALULA_DECLARE(T)                                                       \
  void alula_svd_##T(                                                          \
      const void *a, void *s, void *u, void *vh, int32_t *info, int64_t batch, \
      int64_t m, int64_t n, int32_t full, void *scratch,                       \
      const int32_t *cancel);
ALULA_FOR_EACH_ELEMENT(ALULA_DECLARE)
#undef ALULA_DECLARE
static inline int64_t alula_svd_blocks(int64_t large, int64_t small) {
  return alula_reflector_elements(large, small) +
         ALULA_REFLECTOR_BLOCK * (large - small);
}
static inline int64_t alula_svd_scratch_bytes(int64_t m, int64_t n,
                                              int32_t full,
                                              int64_t element_bytes) {
  int64_t large = alula_larger_size(m, n), small = alula_smaller_size(m, n);
  return (large * small + 2 * large * (full ? large : small) +
          small * small + (4 * ALULA_REDUCTION_PANEL + 31) * large +
          alula_svd_blocks(large, small)) *
         element_bytes;
}

/* hessenberg: q^H a q as LAPACK's gehrd packs it: the Hessenberg matrix in the
 * upper triangle and the first subdiagonal, the vectors of n - 1 reflectors
 * below; taus has n - 1. packed may be a. */
#define ALULA_DECLARE(T)                                                       \
  void alula_hessenberg_##T(                                                   \
      const void *a, void *packed, void *taus, int64_t batch, int64_t n,       \
      void *scratch, const int32_t *cancel);
ALULA_FOR_EACH_ELEMENT(ALULA_DECLARE)
#undef ALULA_DECLARE
static inline int64_t alula_hessenberg_scratch_bytes(int64_t n,
                                                     int64_t element_bytes) {
  return ALULA_REDUCTION_PANEL * (3 * n + ALULA_REDUCTION_PANEL) *
         element_bytes;
}

/* schur: a = q t q^H; t is upper triangular, for real matrices with 2 by 2
 * blocks on the diagonal for pairs of complex eigenvalues, in LAPACK's
 * standard form. Eigenvalues of up to 75 rows come in the order in which
 * LAPACK's gebal, gehrd and lahqr find them. q may be null. info as in eigen_symmetric. `is_narrow`:
 * f32 or c64, whose work is done in f64. */
#define ALULA_DECLARE(T)                                                       \
  void alula_schur_##T(                                                        \
      const void *a, void *t, void *q, int32_t *info, int64_t batch,           \
      int64_t n, void *scratch, const int32_t *cancel);
ALULA_FOR_EACH_ELEMENT(ALULA_DECLARE)
#undef ALULA_DECLARE
static inline int64_t alula_schur_scratch_bytes(int64_t n, int64_t is_narrow,
                                                int64_t element_bytes) {
  int64_t wide = 2 * n * n;
  int64_t work = n * n + 3 * n +
                 ALULA_REDUCTION_PANEL * (3 * n + ALULA_REDUCTION_PANEL) +
                 alula_reflector_elements(n, n) +
                 (n < ALULA_SCHUR_LEAST ? 0 : ALULA_SCHUR_CHAIN_ELEMENTS);
  return is_narrow ? (wide + work) * (2 * element_bytes) : work * element_bytes;
}

/* eigen_general: eigenvalues w (complex, n) of an n by n matrix, right
 * eigenvectors a v = v w and left ones u^H a = w u^H as columns (complex),
 * each of norm 1 with its largest component real; left and right may be null.
 * Complex eigenvalues of a real matrix come in conjugate pairs, the one with
 * the positive imaginary part first. info as in eigen_symmetric. */
#define ALULA_DECLARE(T)                                                       \
  void alula_eigen_general_##T(                                                \
      const void *a, void *w, void *left, void *right, int32_t *info,          \
      int64_t batch, int64_t n, void *scratch, const int32_t *cancel);
ALULA_FOR_EACH_ELEMENT(ALULA_DECLARE)
#undef ALULA_DECLARE
/* element_bytes is that of a, real or complex. */
static inline int64_t
alula_eigen_general_scratch_bytes(int64_t n, int64_t element_bytes) {
  return (4 * n * n + 7 * n +
          ALULA_REDUCTION_PANEL * (3 * n + ALULA_REDUCTION_PANEL) +
          alula_reflector_elements(n, n) +
          (n < ALULA_SCHUR_LEAST ? 0 : ALULA_SCHUR_CHAIN_ELEMENTS)) *
         element_bytes;
}

#ifdef __cplusplus
}
#endif
