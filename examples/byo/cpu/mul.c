/* A kernel by another compiler: 64 products for each workgroup. */
#include "alula/kernel_abi.h"

int32_t simple_mul(const alula_kernel_args *args, uint32_t x, uint32_t y,
                   uint32_t z) {
  const float *a = args->bindings[0], *b = args->bindings[1];
  float *c = args->bindings[2];
  uint64_t count = args->binding_bytes[2] / sizeof(float);
  uint64_t begin = 64 * (uint64_t)x;
  uint64_t end = begin + 64 < count ? begin + 64 : count;
  (void)y, (void)z;
  for (uint64_t i = begin; i < end; ++i)
    c[i] = a[i] * b[i];
  return 0;
}
