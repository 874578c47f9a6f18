/* Blobs of `alula-compile --emit=blob`: a program with its machine code, which
 * runs where it lies, in flash or in memory. C99 without a C library: add
 * alula_min.c to the program. Nothing is allocated, nothing is written but what
 * the caller gives.
 *
 *   alula_min program;
 *   alula_min_function function;
 *   code = alula_min_open(&program, blob, sizeof blob, ALULA_MIN_FEATURES);
 *   code = code ? code : alula_min_find(&program, "main", &function);
 *   code = code ? code : alula_min_run(&function, arena, sizeof arena, 0, in,
 * out);
 */
#ifndef ALULA_MIN_H
#define ALULA_MIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef ALULA_STATIC_ABI
#define ALULA_STATIC_ABI 1
#define ALULA_E_NULL 1      /* a pointer is null */
#define ALULA_E_ALIGN 2     /* a pointer is not aligned */
#define ALULA_E_ALIAS 3     /* a result shares memory with another array */
#define ALULA_E_ARENA 4     /* the arena is too small */
#define ALULA_E_ASSERTION 5 /* the program says that something is wrong */
#define ALULA_E_STATE 6     /* a global is read before it has a value */
#elif ALULA_STATIC_ABI != 1
#error "headers of different versions of alula-compile"
#endif
#define ALULA_MIN_E_FORMAT 16   /* these bytes are no blob */
#define ALULA_MIN_E_VERSION 17  /* a blob of another version */
#define ALULA_MIN_E_SIZE 18     /* bytes are missing */
#define ALULA_MIN_E_CHECKSUM 19 /* bytes have changed */
#define ALULA_MIN_E_MACHINE 20  /* code for another machine */
#define ALULA_MIN_E_FEATURES                                                   \
  21 /* code that this machine lacks instructions for */
#define ALULA_MIN_E_BOUNDS 22 /* something lies outside of the blob */
#define ALULA_MIN_E_NAME 23   /* there is no such function */

/* A blob is words of 32 bits, the lowest byte first, then names, numbers and
 * code. Places are bytes from its beginning. */
#define ALULA_MIN_MAGIC 0x424d4c41u /* "ALMB" */
#define ALULA_MIN_VERSION 1u
enum {
  ALULA_MIN_AT_MAGIC,
  ALULA_MIN_AT_VERSION,
  ALULA_MIN_AT_BYTES,    /* of the whole blob */
  ALULA_MIN_AT_CHECKSUM, /* CRC-32 of all, this word as 0 */
  ALULA_MIN_AT_MACHINE,
  ALULA_MIN_AT_FEATURES,
  ALULA_MIN_AT_ALIGNMENT,       /* of the blob */
  ALULA_MIN_AT_ARENA_ALIGNMENT, /* of arena and state */
  ALULA_MIN_AT_STATE_BYTES,
  ALULA_MIN_AT_STACK_BYTES, /* the most that a call takes; 0: nobody knows */
  ALULA_MIN_AT_RESET,       /* what gives the state its values; 0: none */
  ALULA_MIN_AT_COUNT,       /* of functions */
  ALULA_MIN_AT_FUNCTIONS,
  ALULA_MIN_AT_CODE,
  ALULA_MIN_AT_CODE_BYTES,
  ALULA_MIN_HEADER_WORDS
};
enum {
  ALULA_MIN_FUNCTION_NAME, /* ends with a zero */
  ALULA_MIN_FUNCTION_ENTRY,
  ALULA_MIN_FUNCTION_ARENA_BYTES,
  ALULA_MIN_FUNCTION_INPUTS, /* their number; then as many outputs */
  ALULA_MIN_FUNCTION_OUTPUTS,
  ALULA_MIN_FUNCTION_PORTS,
  ALULA_MIN_FUNCTION_WORDS
};
enum {
  ALULA_MIN_PORT_NAME,
  ALULA_MIN_PORT_DTYPE, /* of alula/dtype.h */
  ALULA_MIN_PORT_RANK,
  ALULA_MIN_PORT_SHAPE, /* words */
  ALULA_MIN_PORT_BYTES,
  ALULA_MIN_PORT_WORDS
};
enum {
  ALULA_MIN_X86_64 = 1,
  ALULA_MIN_AARCH64 = 2,
  ALULA_MIN_RISCV64 = 3,
  ALULA_MIN_RISCV32 = 4,
  ALULA_MIN_THUMB2 = 5
};

/* What code may ask of each machine. */
#define ALULA_MIN_X86_SSE42 1u
#define ALULA_MIN_X86_AVX2 2u
#define ALULA_MIN_X86_AVX512 4u
#define ALULA_MIN_X86_AVX512VNNI 8u
#define ALULA_MIN_X86_AVX512BF16 16u
#define ALULA_MIN_X86_AVXVNNI 32u
#define ALULA_MIN_ARM_F32 1u
#define ALULA_MIN_RISCV_F32 1u
#define ALULA_MIN_RISCV_F64 2u

/* What the C compiler makes code for; who knows more of the machine adds it. */
#if defined(__x86_64__)
#define ALULA_MIN_MACHINE ALULA_MIN_X86_64
#ifdef __SSE4_2__
#define ALULA_MIN_HAS_SSE42 ALULA_MIN_X86_SSE42
#else
#define ALULA_MIN_HAS_SSE42 0u
#endif
#if defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)
#define ALULA_MIN_HAS_AVX2 ALULA_MIN_X86_AVX2
#else
#define ALULA_MIN_HAS_AVX2 0u
#endif
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__) &&  \
    defined(__AVX512DQ__) && defined(__AVX512CD__)
#define ALULA_MIN_HAS_AVX512 ALULA_MIN_X86_AVX512
#else
#define ALULA_MIN_HAS_AVX512 0u
#endif
#define ALULA_MIN_FEATURES                                                     \
  (ALULA_MIN_HAS_SSE42 | ALULA_MIN_HAS_AVX2 | ALULA_MIN_HAS_AVX512)
#elif defined(__aarch64__)
#define ALULA_MIN_MACHINE ALULA_MIN_AARCH64
#define ALULA_MIN_FEATURES 0u
#elif defined(__riscv)
#define ALULA_MIN_MACHINE                                                      \
  (__riscv_xlen == 64 ? ALULA_MIN_RISCV64 : ALULA_MIN_RISCV32)
#if !defined(__riscv_flen)
#define ALULA_MIN_FEATURES 0u
#elif __riscv_flen >= 64
#define ALULA_MIN_FEATURES (ALULA_MIN_RISCV_F32 | ALULA_MIN_RISCV_F64)
#else
#define ALULA_MIN_FEATURES ALULA_MIN_RISCV_F32
#endif
#elif defined(__thumb2__)
#define ALULA_MIN_MACHINE ALULA_MIN_THUMB2
#if defined(__ARM_FP) && (__ARM_FP & 4)
#define ALULA_MIN_FEATURES ALULA_MIN_ARM_F32
#else
#define ALULA_MIN_FEATURES 0u
#endif
#else
#error "there are no blobs for this machine"
#endif

typedef struct {
  const unsigned char *blob;
  uint32_t bytes, function_count, state_bytes, stack_bytes, alignment;
} alula_min;

typedef struct {
  const alula_min *program;
  const char *name;
  uint32_t arena_bytes, input_count, output_count;
  /* Places in the blob. */
  uint32_t entry, ports;
} alula_min_function;

typedef struct {
  const char *name;
  uint32_t dtype, rank, bytes;
  const unsigned char *shape; /* alula_min_get_size() reads it */
} alula_min_port;

/* Checks the whole blob, which must lie still as long as it is used; `features`
 * are ALULA_MIN_FEATURES, or more. All functions return 0 or what is wrong. */
int32_t alula_min_open(alula_min *program, const void *blob, size_t bytes,
                       uint32_t features);
int32_t alula_min_get(const alula_min *program, uint32_t index,
                      alula_min_function *function);
int32_t alula_min_find(const alula_min *program, const char *name,
                       alula_min_function *function);
/* Of inputs, then outputs. */
int32_t alula_min_get_port(const alula_min_function *function, uint32_t index,
                           alula_min_port *port);
uint32_t alula_min_get_size(const alula_min_port *port, uint32_t dimension);
/* Gives `state_bytes` at `state` their first values. */
int32_t alula_min_reset(const alula_min *program, void *state);
/* `state` may be null if `state_bytes` is 0. Calls with memory of their own may
 * run at once. */
int32_t alula_min_run(const alula_min_function *function, void *arena,
                      size_t arena_bytes, void *state, const void *const in[],
                      void *const out[]);

#ifdef __cplusplus
}
#endif

#endif
