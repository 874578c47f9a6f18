/* How the library's C files say what becomes of their functions and loops. */
#pragma once

#define INLINE static inline __attribute__((always_inline))
#define NOINLINE static __attribute__((noinline))

/* Names for each element type: PASTE's arguments, expanded first. */
#define PASTE(a, b, c) a##_##b##_##c
#define EXPAND(a, b, c) PASTE(a, b, c)

/* The function of LOCAL(name) for the machine's vectors, of which one is
 * compiled; machine_facts.h is included before. */
#define FOR_VECTORS(name, ...)                                                 \
  {                                                                            \
    if (alula_vector_bytes == 64)                                              \
      EXPAND(LOCAL(name), of, 64)(__VA_ARGS__);                                \
    else if (alula_vector_bytes == 32)                                         \
      EXPAND(LOCAL(name), of, 32)(__VA_ARGS__);                                \
    else                                                                       \
      EXPAND(LOCAL(name), of, 16)(__VA_ARGS__);                                \
  }

/* Before a loop that is as fast as it is written: the copies that LLVM would
 * make of its body cost more time and room than they save. */
#define AS_WRITTEN                                                             \
  _Pragma("clang loop unroll(disable) vectorize(disable) interleave(disable)")
#define UNROLLED _Pragma("clang loop unroll(full)")
