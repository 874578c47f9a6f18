/* How a CPU kernel is called. This header stands alone: compiler, runtime,
 * hand-written kernels, other people's compilers and bare-metal output all meet
 * here. C99, no other include of ours.
 *
 * A kernel is a function of one workgroup. The runtime calls it once for every
 * (x, y, z) below `workgroup_count`, in any order, from any threads, several at
 * once; one call ends before the next command starts. A kernel
 *   - reads and writes only its bindings and its scratch,
 *   - calls nothing outside its image but its imports, and keeps no state,
 *   - may assume of a binding no more alignment than its element type's own
 *     (for complex numbers, its part's),
 *   - uses the C calling convention of the target and at most
 *     ALULA_KERNEL_STACK_BYTES of stack,
 *   - returns 0, or any other number for "this call has failed"; if it runs for
 *     long it should read `cancel` now and then, and end early once that is
 * set, with the number ALULA_KERNEL_CANCELLED and any contents of its results.
 */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Changes whenever the struct or the rules above change incompatibly. Fields
 * are only ever appended; `struct_bytes` says how many the caller filled. */
#define ALULA_KERNEL_ABI 1u

#define ALULA_KERNEL_STACK_BYTES 65536u

#define ALULA_KERNEL_CANCELLED (-2147483647 - 1)

/* A function that is found by name when the artifact is loaded. `params` is a
 * struct of C layout: for each memory a pointer to its first element, operands
 * before results, each index an int64_t, in the order of the call. `context`
 * is what who gave the function wants with it. Returns 0, or the kernel fails
 * with its number. */
typedef int32_t (*alula_import_function)(void *params, void *context,
                                         void *reserved);

typedef struct alula_import {
  /* NULL only for one that may be missing. */
  alula_import_function function;
  void *context;
} alula_import;

typedef struct alula_kernel_args {
  uint32_t struct_bytes;
  uint32_t binding_count;
  uint32_t constant_count;
  /* The grid; each is at least 1. */
  uint32_t workgroup_count[3];
  /* Which of the threads that share this grid calls, and how many they are.
   * Only good for picking scratch or statistics: results must not depend on
   * it. */
  uint32_t worker;
  uint32_t worker_count;
  /* First byte and length of each buffer, in the order of the kernel's
   * signature. A buffer of 0 bytes has a pointer that must not be used. */
  void *const *bindings;
  const uint64_t *binding_bytes;
  /* Constants of this call: sizes, dynamic dimensions, indices. */
  const int64_t *constants;
  /* Private to this worker during the call, 64-byte aligned, of the size that
   * the kernel's record in the artifact asks for; content undefined. */
  void *scratch;
  uint64_t scratch_bytes;
  /* The functions of the artifact's section IMPORTS, in its order; NULL if it
   * has none. */
  const alula_import *imports;
  /* NULL, or not 0 as soon as nobody wants the results any more. Runtimes of
   * before this field fill fewer bytes. */
  const int *cancel;
} alula_kernel_args;

typedef int32_t (*alula_kernel)(const alula_kernel_args *args, uint32_t x,
                                uint32_t y, uint32_t z);

#ifdef __cplusplus
} /* extern "C" */
#endif
