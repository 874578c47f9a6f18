/* The kernels of the conformance suite, compiled the way the compiler makes
 * its own: freestanding, position-independent, linked without relocations. */

#include "alula/kernel_abi.h"

#define KERNEL __attribute__((visibility("default")))

static uint64_t getPart(uint64_t count, uint32_t part, uint32_t parts) {
  return count * part / parts;
}

/* c[i] = a[i] + b[i]; constant: the number of elements; split along x. */
KERNEL int32_t add_f32(const alula_kernel_args *args, uint32_t x, uint32_t y,
                       uint32_t z) {
  const float *a = args->bindings[0], *b = args->bindings[1];
  float *c = args->bindings[2];
  uint64_t n = (uint64_t)args->constants[0];
  uint64_t end = getPart(n, x + 1, args->workgroup_count[0]);
  (void)y, (void)z;
  for (uint64_t i = getPart(n, x, args->workgroup_count[0]); i < end; ++i)
    c[i] = a[i] + b[i];
  return 0;
}

/* x[i] = x[i] * constant + constant, of 64-bit integers, in place. */
KERNEL int32_t scale_i64(const alula_kernel_args *args, uint32_t x, uint32_t y,
                         uint32_t z) {
  int64_t *data = args->bindings[0];
  (void)x, (void)y, (void)z;
  for (uint64_t i = 0; i < args->binding_bytes[0] / 8; ++i)
    data[i] = data[i] * args->constants[0] + args->constants[1];
  return 0;
}

/* out[x + X*(y + Y*z)] = 1 + that index, through the worker's scratch. */
KERNEL int32_t mark_grid(const alula_kernel_args *args, uint32_t x, uint32_t y,
                         uint32_t z) {
  int32_t *out = args->bindings[0];
  volatile int32_t *scratch = args->scratch;
  const uint32_t *count = args->workgroup_count;
  uint32_t index = x + count[0] * (y + count[1] * z);
  if (args->scratch_bytes < 4 || args->worker >= args->worker_count)
    return 2;
  *scratch = (int32_t)index;
  for (volatile int i = 0; i < 100; ++i)
    ;
  out[index] = *scratch + 1;
  return 0;
}

/* A table in read-only data. */
static const int32_t squares[8] = {0, 1, 4, 9, 16, 25, 36, 49};
KERNEL int32_t look_up(const alula_kernel_args *args, uint32_t x, uint32_t y,
                       uint32_t z) {
  int32_t *data = args->bindings[0];
  (void)x, (void)y, (void)z;
  for (uint64_t i = 0; i < args->binding_bytes[0] / 4; ++i)
    data[i] = squares[data[i] & 7];
  return 0;
}

KERNEL int32_t fail_with(const alula_kernel_args *args, uint32_t x, uint32_t y,
                         uint32_t z) {
  (void)x, (void)y, (void)z;
  return (int32_t)args->constants[0];
}
