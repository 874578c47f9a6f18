/* Fourier transforms over the last one to three dimensions, as StableHLO's fft
 * defines them, of any lengths.
 *
 * A transform needs a plan: factors and tables of roots, without pointers or
 * anything that depends on the machine, so a compiler can make it and pass it
 * as a constant, aligned to 16. Lengths up to 2^40.
 *
 *   kind 0 FFT, 1 IFFT (scaled by 1 / length): complex to complex
 *   kind 2 RFFT: real to complex, the last dimension cut to length / 2 + 1
 *   kind 3 IRFFT: its inverse; imaginary parts that a spectrum of real data
 *          can't have, at zero and at the highest frequency, are not read
 *
 * `lengths` are those of the transform, `rank` of them (1 to 3). */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { ALULA_FFT = 0, ALULA_IFFT = 1, ALULA_RFFT = 2, ALULA_IRFFT = 3 };
enum {
  /* The largest prime factor that is transformed directly. */
  ALULA_FFT_LARGEST_FACTOR = 61,
  /* Lines that are transformed together. */
  ALULA_FFT_LANES = 8,
  /* Bytes of a number of each of the lines that fill vectors. */
  ALULA_FFT_NUMBERS = 128,
  /* Contiguous lines longer than this are transformed one by one. */
  ALULA_FFT_LONG_LINE = 2048,
  /* 64-bit words before the tables of a line's plan, and of a whole plan. */
  ALULA_FFT_LINE_HEADER = 64,
  ALULA_FFT_HEADER = 16
};

/* Fills a plan. Its scratch has as many bytes as the plan. */
void alula_fft_plan_f32(void *plan, int32_t kind, int64_t rank,
                        const int64_t *lengths, void *scratch);
void alula_fft_plan_f64(void *plan, int32_t kind, int64_t rank,
                        const int64_t *lengths, void *scratch);

/* Transforms `batch` arrays of the plan's lengths. Scratch is aligned to 16.
 * Complex transforms may be done in place. */
void alula_fft_f32(const void *in, void *out, const void *plan, int64_t batch,
                   void *scratch);
void alula_fft_f64(const void *in, void *out, const void *plan, int64_t batch,
                   void *scratch);

/* Both. Its scratch is for the greater of them; the plan is left. One function
 * to compile, where the two would both contain the passes. */
void alula_fft_planned_f32(const void *in, void *out, void *plan, int32_t kind,
                           int64_t rank, const int64_t *lengths, int64_t batch,
                           void *scratch);
void alula_fft_planned_f64(const void *in, void *out, void *plan, int32_t kind,
                           int64_t rank, const int64_t *lengths, int64_t batch,
                           void *scratch);

/* Whether n has only small prime factors. */
static inline int32_t alula_fft_is_smooth(int64_t n) {
  for (int64_t p = 2; p <= ALULA_FFT_LARGEST_FACTOR; ++p)
    while (n > 1 && n % p == 0)
      n /= p;
  return n <= 1;
}

/* The length of the convolution that does n: some 2^k times 1, 3, 5, 9, 15, 25,
 * 27, 45 or 75 that is at least 2 n - 1. */
static inline int64_t alula_fft_padded(int64_t n) {
  int64_t best = 1;
  while (best < 2 * n - 1)
    best *= 2;
  for (int64_t fives = 1; fives <= 25; fives *= 5)
    for (int64_t odd = fives; odd <= 75; odd *= 3) {
      int64_t size = odd;
      while (size < 2 * n - 1)
        size *= 2;
      if (size < best)
        best = size;
    }
  return best;
}

/* Complex elements of buffer that one line of n takes. */
static inline int64_t alula_fft_line_length(int64_t n) {
  return alula_fft_is_smooth(n) ? n : alula_fft_padded(n);
}

/* The length of the complex line that a real line of n becomes. */
static inline int64_t alula_fft_real_line(int64_t n) {
  return n % 2 == 0 ? n / 2 : n;
}

/* Roots that the passes over a line of small factors need, fours first. */
static inline int64_t alula_fft_roots(int64_t n) {
  int64_t count = 0;
  for (; n > 1 && n % 4 == 0; n /= 4)
    count += 3 * (n / 4);
  for (int64_t r = 2; n > 1; ++r)
    for (; n % r == 0; n /= r)
      count += (r - 1) * (n / r) + (r > 5 ? r : 0);
  return count;
}

/* Lines are transformed side by side, but for long ones that lie one behind the
 * other. */
static inline int32_t alula_fft_has_places(int64_t n, int32_t is_last) {
  return !is_last || n <= ALULA_FFT_LONG_LINE;
}

/* Bytes of one line's plan before the places of its frequencies, which are one
 * i32 each; and all of it. */
static inline int64_t alula_fft_places(int64_t n, int64_t complex_bytes) {
  int64_t elements = alula_fft_padded(n);
  if (n == 0 || alula_fft_is_smooth(n))
    elements = alula_fft_roots(n);
  else
    elements += n + alula_fft_roots(elements);
  return ALULA_FFT_LINE_HEADER * 8 + (elements + 1) / 2 * 2 * complex_bytes;
}
static inline int64_t alula_fft_line_bytes(int64_t n, int64_t complex_bytes,
                                           int32_t has_places) {
  int64_t places = (alula_fft_line_length(n) + 3) / 4 * 16;
  return alula_fft_places(n, complex_bytes) + (has_places ? places : 0);
}

static inline int64_t alula_fft_plan_bytes(int32_t kind, int64_t rank,
                                           const int64_t *lengths,
                                           int64_t complex_bytes) {
  int64_t bytes = ALULA_FFT_HEADER * 8;
  for (int64_t d = 0; d + 1 < rank; ++d)
    bytes += alula_fft_line_bytes(lengths[d], complex_bytes, 1);
  int64_t n = lengths[rank - 1];
  int32_t has_places = alula_fft_has_places(n, 1);
  if (kind < ALULA_RFFT)
    return bytes + alula_fft_line_bytes(n, complex_bytes, has_places);
  return bytes +
         alula_fft_line_bytes(alula_fft_real_line(n), complex_bytes,
                              has_places) +
         (n / 2 + 2) / 2 * 2 * complex_bytes;
}

static inline int64_t alula_fft_scratch_bytes(int32_t kind, int64_t rank,
                                              const int64_t *lengths,
                                              int64_t complex_bytes) {
  int64_t most = 0, volume = 1;
  for (int64_t d = 0; d < rank; ++d) {
    int64_t n = lengths[d], lanes = ALULA_FFT_LANES;
    if (d + 1 == rank && n > ALULA_FFT_LONG_LINE)
      lanes = 1;
    if (d + 1 == rank && kind >= ALULA_RFFT) {
      volume *= n / 2 + 1;
      n = alula_fft_real_line(n);
    }
    int64_t buffers = 2 * lanes * alula_fft_line_length(n) * complex_bytes;
    int64_t numbers =
        2 * (alula_fft_line_length(n) + 1) * ALULA_FFT_NUMBERS + 64;
    if (lanes > 1)
      buffers = numbers > buffers ? numbers : buffers;
    most = buffers > most ? buffers : most;
  }
  /* The inverse of a real transform may not change its input. */
  for (int64_t d = 0; d + 1 < rank; ++d)
    volume *= lengths[d];
  if (kind == ALULA_IRFFT && rank > 1)
    most += volume * complex_bytes;
  return most;
}

#ifdef __cplusplus
}
#endif
