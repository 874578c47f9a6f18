/* Random bits of counter-based generators, bit for bit those of StableHLO's
 * rng_bit_generator as XLA lays them out. Kernels for elements of 8, 16, 32
 * and 64 bits; the narrow ones take the low bits of a 32-bit word. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Threefry2x32 with 20 rounds: (y0, y1)[k] from the counters (x0, x1)[k]. The
 * key has two words. y0 and y1 may be x0 and x1. */
void alula_threefry2x32_u32(const uint32_t *key, const uint32_t *x0,
                            const uint32_t *x1, uint32_t *y0, uint32_t *y1,
                            int64_t count);

/* THREE_FRY: the state has two words, key and counter. The output is seen as
 * [outer][size][inner] around the dimension that pairs of words run along,
 * which alula_threefry_pair_dimension names; 64-bit elements are not paired,
 * any split will do. next_state may be the state, or null. */
#define ALULA_DECLARE(U, WORD)                                                 \
  void alula_threefry_bits_##U(const uint64_t *state, uint64_t *next_state,    \
                               WORD *bits, int64_t outer, int64_t size,        \
                               int64_t inner);
ALULA_DECLARE(u8, uint8_t)
ALULA_DECLARE(u16, uint16_t)
ALULA_DECLARE(u32, uint32_t)
ALULA_DECLARE(u64, uint64_t)
#undef ALULA_DECLARE

/* The first even dimension, else the first of the largest; 0 for no
 * dimensions, where size is 1. */
static inline int64_t alula_threefry_pair_dimension(const int64_t *dims,
                                                    int64_t rank) {
  int64_t largest = 0;
  for (int64_t d = 0; d < rank; ++d) {
    if (dims[d] % 2 == 0)
      return d;
    if (dims[d] > dims[largest])
      largest = d;
  }
  return largest;
}

/* How far threefry's counter moves for such an output. */
static inline int64_t alula_threefry_steps(int64_t outer, int64_t size,
                                           int64_t inner, int64_t bits) {
  return outer * inner * (bits == 64 ? size : (size + 1) / 2);
}

/* PHILOX (4x32, 10 rounds) and DEFAULT: the state has two words, key and
 * counter, or three, key and the counter's two halves (state_words). A range
 * of an output starts at a multiple of four elements, two of 64 bits; its
 * state is what the call for the elements before it would leave. */
#define ALULA_DECLARE(U, WORD)                                                 \
  void alula_philox_bits_##U(const uint64_t *state, int64_t state_words,       \
                             uint64_t *next_state, WORD *bits,                 \
                             int64_t count);
ALULA_DECLARE(u8, uint8_t)
ALULA_DECLARE(u16, uint16_t)
ALULA_DECLARE(u32, uint32_t)
ALULA_DECLARE(u64, uint64_t)
#undef ALULA_DECLARE

#ifdef __cplusplus
}
#endif
