/* What stands between the driver of CUDA and a library that computes kernels
 * with its own code, such as cuBLASLt. It is found as libalula_NAME.so.0, NAME
 * being the first word of a call's text (artifact/SPEC.md), beside the driver
 * or where the system looks. C99.
 *
 * Functions may be called from several threads at once, with the context of the
 * device current. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ALULA_CUDA_LIBRARY_ABI 1u

enum {
  ALULA_CUDA_LIBRARY_TAKEN = 0,
  /* It can't or will not compute this. */
  ALULA_CUDA_LIBRARY_DECLINED = 1,
  /* What it needs is not on this machine. */
  ALULA_CUDA_LIBRARY_MISSING = 2
};

typedef struct alula_cuda_plan alula_cuda_plan;

typedef struct alula_cuda_request {
  uint32_t struct_bytes;
  uint32_t argument_count;
  /* As the artifact has it, with the library's name. */
  const char *text;
  /* Of the device. */
  int32_t ordinal;
  /* Addresses are multiples of this. */
  uint32_t alignment;
  /* Memory that each call gets for itself, to write to. */
  uint64_t workspace_bytes;
} alula_cuda_request;

typedef struct alula_cuda_library {
  uint32_t struct_bytes;
  uint32_t abi;
  /* How to compute what the request says, on this device; or, with a sentence
   * in `reason`, why not. */
  int32_t (*prepare)(const alula_cuda_request *request, alula_cuda_plan **plan,
                     char *reason, size_t reason_bytes);
  /* No stream will run it any more. */
  void (*release)(alula_cuda_plan *plan);
  /* Gives a CUstream the work, which may be capturing: nothing may wait. What
   * is pointed to is read before this returns. 0, or a sentence in `reason`. */
  int32_t (*run)(alula_cuda_plan *plan, void *stream, const uint64_t *arguments,
                 uint64_t workspace, char *reason, size_t reason_bytes);
} alula_cuda_library;

/* NULL if it knows no such version. */
typedef const alula_cuda_library *(*alula_cuda_library_query_function)(
    uint32_t abi);
#define ALULA_CUDA_LIBRARY_QUERY "alula_cuda_library_query"

#ifdef __cplusplus
} /* extern "C" */
#endif
