// LU factorization with partial pivoting, blocked and right-looking.
#include "compiler/kernel/library/linear_algebra.h"
#include "compiler/kernel/library/matrix.h"

void alula_lu_pivots_to_permutation_i32(const int32_t *pivots,
                                        int32_t *permutation, int64_t batch,
                                        int64_t count, int64_t size) {
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t k = 0; k < size; ++k)
      permutation[k] = (int32_t)k;
    for (int64_t k = 0; k < count && k < size; ++k) {
      int32_t other = pivots[k];
      if (other < 0 || other >= size)
        continue;
      int32_t kept = permutation[k];
      permutation[k] = permutation[other];
      permutation[other] = kept;
    }
    pivots += count;
    permutation += size;
  }
}

#define BODY "compiler/kernel/library/lu.inc"
#include "compiler/kernel/library/for_each_element.inc"
