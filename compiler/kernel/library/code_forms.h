/* How the library's C files say what becomes of their functions and loops. */
#pragma once

#define INLINE static inline __attribute__((always_inline))
#define NOINLINE static __attribute__((noinline))

/* Names for each element type: PASTE's arguments, expanded first. */
#define PASTE(a, b, c) a##_##b##_##c
#define EXPAND(a, b, c) PASTE(a, b, c)

/* Before a loop that is as fast as it is written: the copies that LLVM would make
 * of its body cost more time and room than they save. */
#define AS_WRITTEN                                                             \
  _Pragma("clang loop unroll(disable) vectorize(disable) interleave(disable)")
#define UNROLLED _Pragma("clang loop unroll(full)")
