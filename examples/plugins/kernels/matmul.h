/* r = a * b: a has m rows of k, b has k rows of n. */
#pragma once

#include <stdint.h>

static inline void multiply(const float *a, const float *b, int64_t m,
                            int64_t k, int64_t n, float *r) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j)
      r[i * n + j] = 0;
    for (int64_t p = 0; p < k; ++p)
      for (int64_t j = 0; j < n; ++j)
        r[i * n + j] += a[i * k + p] * b[p * n + j];
  }
}
