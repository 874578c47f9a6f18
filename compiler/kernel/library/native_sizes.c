// Only in the shared object for tests: the headers' sizes as functions.
#include "compiler/kernel/library/fft.h"
#include "compiler/kernel/library/linear_algebra.h"
#include "compiler/kernel/library/random.h"

#define EXPORT_1(NAME)                                                         \
  int64_t NAME##_exported(int64_t n, int64_t bytes);                           \
  int64_t NAME##_exported(int64_t n, int64_t bytes) { return NAME(n, bytes); }
#define EXPORT_2(NAME)                                                         \
  int64_t NAME##_exported(int64_t m, int64_t n, int64_t bytes);                \
  int64_t NAME##_exported(int64_t m, int64_t n, int64_t bytes) {               \
    return NAME(m, n, bytes);                                                  \
  }
#define EXPORT_FFT(NAME)                                                       \
  int64_t NAME##_exported(int32_t kind, int64_t rank, const int64_t *lengths,  \
                          int64_t arrays, int64_t bytes);                      \
  int64_t NAME##_exported(int32_t kind, int64_t rank, const int64_t *lengths,  \
                          int64_t arrays, int64_t bytes) {                     \
    return NAME(kind, rank, lengths, arrays, bytes);                           \
  }

EXPORT_1(alula_tridiagonal_solve_scratch_bytes)
EXPORT_2(alula_qr_scratch_bytes)
EXPORT_2(alula_qr_pivoted_scratch_bytes)
EXPORT_2(alula_householder_product_scratch_bytes)
EXPORT_2(alula_householder_multiply_scratch_bytes)
EXPORT_1(alula_tridiagonal_scratch_bytes)
EXPORT_1(alula_eigen_symmetric_scratch_bytes)
EXPORT_1(alula_hessenberg_scratch_bytes)
EXPORT_2(alula_schur_scratch_bytes)
EXPORT_1(alula_eigen_general_scratch_bytes)
EXPORT_FFT(alula_fft_plan_bytes)
EXPORT_FFT(alula_fft_scratch_bytes)
EXPORT_FFT(alula_fft_shared_bytes)
EXPORT_FFT(alula_fft_steps)

int64_t alula_fft_plan_scratch_bytes_exported(int32_t kind, int64_t rank,
                                              const int64_t *lengths,
                                              int64_t bytes);
int64_t alula_fft_plan_scratch_bytes_exported(int32_t kind, int64_t rank,
                                              const int64_t *lengths,
                                              int64_t bytes) {
  return alula_fft_plan_scratch_bytes(kind, rank, lengths, bytes);
}

int64_t alula_fft_blocks_exported(int32_t kind, int64_t rank,
                                  const int64_t *lengths, int64_t arrays,
                                  int64_t bytes, int64_t step);
int64_t alula_fft_blocks_exported(int32_t kind, int64_t rank,
                                  const int64_t *lengths, int64_t arrays,
                                  int64_t bytes, int64_t step) {
  return alula_fft_blocks(kind, rank, lengths, arrays, bytes, step);
}

int64_t alula_svd_scratch_bytes_exported(int64_t m, int64_t n, int32_t full,
                                         int64_t bytes);
int64_t alula_svd_scratch_bytes_exported(int64_t m, int64_t n, int32_t full,
                                         int64_t bytes) {
  return alula_svd_scratch_bytes(m, n, full, bytes);
}

int64_t alula_threefry_pair_dimension_exported(const int64_t *dims,
                                               int64_t rank);
int64_t alula_threefry_pair_dimension_exported(const int64_t *dims,
                                               int64_t rank) {
  return alula_threefry_pair_dimension(dims, rank);
}
