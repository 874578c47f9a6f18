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
  ALULA_FFT_LARGEST_FACTOR = 127,
  /* Lines that are transformed together. */
  ALULA_FFT_LANES = 8,
  /* Bytes of a number of each of the lines that fill vectors. */
  ALULA_FFT_NUMBERS = 128,
  /* Contiguous lines longer than this are split; such as are too few to fill
   * vectors from the second length on, too few for threads from the third. */
  ALULA_FFT_LONG_LINE = 16384,
  ALULA_FFT_SPLIT_LINE = 256,
  ALULA_FFT_FEW_LONG = 2048,
  /* So many lines or arrays occupy threads each on its own. */
  ALULA_FFT_MANY = 8,
  ALULA_FFT_ALL_STEPS = -1,
  /* First roots of blocks of a split line are a table up to so many. */
  ALULA_FFT_MOST_BASES = 1 << 16,
  /* Numbers of a real line's spectrum that are put in order at once. */
  ALULA_FFT_ENDING = 1024,
  /* 64-bit words before the tables of a line's plan, and of a whole plan. */
  ALULA_FFT_LINE_HEADER = 64,
  ALULA_FFT_HEADER = 16
};

/* Fills a plan of `arrays` arrays that are transformed together (0: not known
 * how many). */
void alula_fft_plan_f32(void *plan, int32_t kind, int64_t rank,
                        const int64_t *lengths, int64_t arrays, void *scratch);
void alula_fft_plan_f64(void *plan, int32_t kind, int64_t rank,
                        const int64_t *lengths, int64_t arrays, void *scratch);

/* Does one block of one step; all blocks of a step must be done before the
 * next begins, in any order or at once. `arrays` is what the plan has, or how
 * many there are where that is not known. `shared` is what steps leave for each
 * other. With the step ALULA_FFT_ALL_STEPS everything, of the array that
 * `block` says and of a plan of 1 array or of unknown many.
 * Scratch and shared memory are aligned to 16; each block has its own scratch.
 */
void alula_fft_f32(const void *in, void *out, const void *plan, int64_t arrays,
                   int64_t step, int64_t block, void *shared, void *scratch);
void alula_fft_f64(const void *in, void *out, const void *plan, int64_t arrays,
                   int64_t step, int64_t block, void *shared, void *scratch);

/* Makes the plan of one array, and transforms `batch` of them by it. Its
 * scratch is for the greater of both. */
void alula_fft_planned_f32(const void *in, void *out, void *plan, int32_t kind,
                           int64_t rank, const int64_t *lengths, int64_t batch,
                           void *shared, void *scratch);
void alula_fft_planned_f64(const void *in, void *out, void *plan, int32_t kind,
                           int64_t rank, const int64_t *lengths, int64_t batch,
                           void *shared, void *scratch);

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

/* How many lines of n are one complex line: odd real ones go in pairs. */
static inline int64_t alula_fft_together(int32_t kind, int64_t n) {
  return kind >= ALULA_RFFT && n % 2 ? 2 : 1;
}

/* Roots that the passes over a line of small factors need, eights first. */
static inline int64_t alula_fft_roots(int64_t n) {
  int64_t count = 0;
  for (int64_t r = 8; r > 2; r /= 2)
    for (; n > 1 && n % r == 0; n /= r)
      count += (r - 1) * (n / r);
  for (int64_t r = 2; n > 1; ++r)
    for (; n % r == 0; n /= r)
      count += (r - 1) * (n / r) + (r > 5 ? r : 0);
  return count;
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
static inline int64_t alula_fft_near_line_bytes(int64_t n,
                                                int64_t complex_bytes) {
  int64_t places = (alula_fft_line_length(n) + 15) / 16 * 64;
  return (alula_fft_places(n, complex_bytes) + places + 63) / 64 * 64;
}

/* About how many vector operations a line takes. */
static inline int64_t alula_fft_smooth_cost(int64_t n) {
  int64_t cost = 0, rest = n;
  for (; rest > 1 && rest % 8 == 0; rest /= 8)
    cost += 13;
  for (; rest > 1 && rest % 4 == 0; rest /= 4)
    cost += 10;
  for (int64_t r = 2; rest > 1; ++r)
    for (; rest % r == 0; rest /= r)
      cost += r > 5 ? r + 10 : 2 * r + 4;
  /* Beyond the nearest cache, and the next. */
  cost += n > 256 ? 4 : 0;
  cost += n > 1024 ? 8 : 0;
  cost += n > 4096 ? 30 : 0;
  cost += n > 16384 ? 120 : 0;
  return n * cost;
}
static inline int64_t alula_fft_line_cost(int64_t n) {
  if (alula_fft_is_smooth(n))
    return alula_fft_smooth_cost(n);
  int64_t padded = alula_fft_padded(n);
  return 2 * alula_fft_smooth_cost(padded) + 20 * padded;
}

/* A line of n that is transformed as a matrix of n1 rows of n2: its columns
 * first, which are turned by roots, then its rows. `padded` is n, or the length
 * of the convolution that does n. All offsets are of bytes in the plan:
 *   chirp      the n numbers of the convolution, and its spectrum for vectors
 *   turns      what numbers of a block of columns differ by, for vectors
 *   bases      the first column's roots of each block; or fine and coarse
 *              roots, whose products these are, all of them in f64
 *   columns, rows   the plans of such lines */
typedef struct {
  int64_t padded, n1, n2;
  int64_t chirp, spectrum, turns, bases, coarse, fine;
  int64_t columns, rows, bytes;
} alula_fft_split;

static inline int64_t alula_fft_divide_up(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

static inline int64_t alula_fft_split_cost(int64_t n1, int64_t n2,
                                           int64_t lanes) {
  int64_t rows = alula_fft_divide_up(n1, lanes);
  int64_t columns = alula_fft_divide_up(n2, lanes);
  return columns * alula_fft_line_cost(n1) + rows * alula_fft_line_cost(n2) +
         columns * n1 * 20;
}

/* The best factors of n, whose product is n; the cost of them. */
static inline int64_t alula_fft_choose_factors(int64_t n, int64_t lanes,
                                               int64_t *n1, int64_t *n2) {
  int64_t best = -1;
  for (int64_t r = 1; r * r <= n; ++r) {
    if (n % r)
      continue;
    for (int32_t turned = 0; turned < 2; ++turned) {
      int64_t a = turned ? n / r : r, b = n / a;
      int64_t cost = alula_fft_split_cost(a, b, lanes);
      if (best < 0 || cost <= best) {
        best = cost;
        *n1 = a;
        *n2 = b;
      }
    }
  }
  return best;
}

static inline int64_t alula_fft_choose_split(int64_t n, int64_t complex_bytes,
                                             alula_fft_split *split) {
  int64_t lanes = ALULA_FFT_NUMBERS / complex_bytes;
  int64_t cost = alula_fft_choose_factors(n, lanes, &split->n1, &split->n2);
  split->padded = n;
  if (alula_fft_is_smooth(n))
    return cost;
  int64_t n1 = 1, n2 = 1, padded = alula_fft_padded(n);
  /* Its chirp and spectrum are read from afar. */
  int64_t other = 2 * alula_fft_choose_factors(padded, lanes, &n1, &n2) +
                  padded / lanes * 80;
  if (other >= cost)
    return cost;
  split->padded = padded;
  split->n1 = n1;
  split->n2 = n2;
  return other;
}

/* All roots of n are products of so many first ones, a power of two, with
 * every so manyth. */
static inline int64_t alula_fft_fine_roots(int64_t n) {
  int64_t fine = 64;
  while (fine * fine < n)
    fine *= 2;
  return fine;
}

static inline alula_fft_split alula_fft_split_of(int64_t n,
                                                 int64_t complex_bytes) {
  alula_fft_split s;
  alula_fft_choose_split(n, complex_bytes, &s);
  int64_t lanes = ALULA_FFT_NUMBERS / complex_bytes;
  int64_t blocks = alula_fft_divide_up(s.n2, lanes), at = 0;
  int32_t convolves = s.padded != n;
  at = ALULA_FFT_LINE_HEADER * 8;
  s.chirp = at;
  at += convolves ? (n * complex_bytes + 63) / 64 * 64 : 0;
  s.spectrum = at;
  at += convolves ? alula_fft_divide_up(s.n1, lanes) * s.n2 * ALULA_FFT_NUMBERS
                  : 0;
  s.turns = at;
  at += s.n1 * ALULA_FFT_NUMBERS;
  s.bases = s.coarse = at;
  s.fine = 0;
  if (blocks * s.n1 <= ALULA_FFT_MOST_BASES) {
    at += (blocks * s.n1 * complex_bytes + 63) / 64 * 64;
  } else {
    s.fine = alula_fft_fine_roots(s.padded);
    s.coarse = at + s.fine * 16;
    at = s.coarse + (s.padded / s.fine + 4) / 4 * 64;
  }
  s.columns = at;
  at += alula_fft_near_line_bytes(s.n1, complex_bytes);
  s.rows = at;
  s.bytes = at + alula_fft_near_line_bytes(s.n2, complex_bytes);
  return s;
}

/* Whether contiguous lines, so many of them, are transformed that way. */
static inline int32_t alula_fft_is_split(int64_t n, int64_t lines,
                                         int64_t complex_bytes) {
  if (n > ALULA_FFT_LONG_LINE)
    return 1;
  int64_t lanes = ALULA_FFT_NUMBERS / complex_bytes;
  if (n < ALULA_FFT_SPLIT_LINE || lines == 0 || lines >= 4 * lanes)
    return 0;
  if (lines >= lanes / 4)
    return n > ALULA_FFT_FEW_LONG;
  alula_fft_split s;
  return alula_fft_choose_split(n, complex_bytes, &s) * 4 <
         alula_fft_line_cost(n);
}

static inline int64_t alula_fft_line_bytes(int64_t n, int64_t complex_bytes,
                                           int32_t is_split) {
  return is_split ? alula_fft_split_of(n, complex_bytes).bytes
                  : alula_fft_near_line_bytes(n, complex_bytes);
}

/* What is done to a contiguous line: its complex length, and what else. */
typedef struct {
  int64_t lines, n, length, columns;
  int32_t is_split;
} alula_fft_last;

static inline alula_fft_last alula_fft_last_of(int32_t kind, int64_t rank,
                                               const int64_t *lengths,
                                               int64_t arrays,
                                               int64_t complex_bytes) {
  alula_fft_last last;
  last.n = lengths[rank - 1];
  last.lines = arrays;
  for (int64_t d = 0; d + 1 < rank; ++d)
    last.lines *= lengths[d];
  int32_t is_real = kind >= ALULA_RFFT;
  last.length = is_real ? alula_fft_real_line(last.n) : last.n;
  last.columns = is_real ? last.n / 2 + 1 : last.n;
  last.is_split = alula_fft_is_split(last.length, last.lines, complex_bytes);
  return last;
}

static inline int64_t alula_fft_plan_bytes(int32_t kind, int64_t rank,
                                           const int64_t *lengths,
                                           int64_t arrays,
                                           int64_t complex_bytes) {
  int64_t bytes = ALULA_FFT_HEADER * 8;
  for (int64_t d = 0; d + 1 < rank; ++d)
    bytes += alula_fft_line_bytes(lengths[d], complex_bytes, 0);
  alula_fft_last last =
      alula_fft_last_of(kind, rank, lengths, arrays, complex_bytes);
  bytes += alula_fft_line_bytes(last.length, complex_bytes, last.is_split);
  return kind < ALULA_RFFT ? bytes
                           : bytes + (last.n / 2 + 4) / 4 * 4 * complex_bytes;
}

/* Making a plan computes the spectra of chirps: what surrounds them, and all
 * that a transform of it needs, or tables of their roots. */
static inline int64_t alula_fft_plan_scratch_bytes(int32_t kind, int64_t rank,
                                                   const int64_t *lengths,
                                                   int64_t complex_bytes) {
  int64_t most = 0, lanes = ALULA_FFT_NUMBERS / complex_bytes;
  for (int64_t d = 0; d < rank; ++d) {
    int64_t n = lengths[d];
    if (d + 1 == rank && kind >= ALULA_RFFT)
      n = alula_fft_real_line(n);
    if (n == 0 || alula_fft_is_smooth(n))
      continue;
    int64_t bytes = 2 * alula_fft_padded(n) * complex_bytes;
    most = bytes > most ? bytes : most;
    alula_fft_split s = alula_fft_split_of(n, complex_bytes);
    if (d + 1 < rank || s.padded == n)
      continue;
    int64_t longer = s.n1 > s.n2 ? s.n1 : s.n2,
            fine = alula_fft_fine_roots(2 * n);
    int64_t inner = 2 * longer * ALULA_FFT_NUMBERS + s.n1 * complex_bytes;
    int64_t tables = (fine + 2 * n / fine + 1) * 16;
    bytes = s.padded * complex_bytes + 64 +
            alula_fft_divide_up(s.n1, lanes) * s.n2 * ALULA_FFT_NUMBERS +
            (inner > tables ? inner : tables);
    most = bytes > most ? bytes : most;
  }
  return most;
}

/* Steps of the last dimension, of which few split lines have several: columns,
 * rows, columns again for a convolution, ends of real lines. */
static inline int64_t alula_fft_last_steps(const alula_fft_last *last,
                                           int32_t kind, int64_t padded) {
  if (!last->is_split || last->lines == 0 || last->lines >= ALULA_FFT_MANY)
    return 1;
  return 2 + (padded != last->length) +
         (kind == ALULA_RFFT && last->n % 2 == 0);
}

static inline int64_t alula_fft_padded_line(const alula_fft_last *last,
                                            int64_t complex_bytes) {
  return last->is_split ? alula_fft_split_of(last->length, complex_bytes).padded
                        : last->length;
}

static inline int64_t alula_fft_steps(int32_t kind, int64_t rank,
                                      const int64_t *lengths, int64_t arrays,
                                      int64_t complex_bytes) {
  alula_fft_last last =
      alula_fft_last_of(kind, rank, lengths, arrays, complex_bytes);
  return rank - 1 +
         alula_fft_last_steps(&last, kind,
                              alula_fft_padded_line(&last, complex_bytes));
}

/* Blocks of a step; where it is not known how many arrays there are, of one
 * dimension and so of one step, for `arrays` of them. */
static inline int64_t alula_fft_blocks(int32_t kind, int64_t rank,
                                       const int64_t *lengths, int64_t arrays,
                                       int64_t complex_bytes, int64_t step) {
  alula_fft_last last =
      alula_fft_last_of(kind, rank, lengths, arrays, complex_bytes);
  int64_t lanes = ALULA_FFT_NUMBERS / complex_bytes;
  int64_t count = alula_fft_last_steps(
      &last, kind, alula_fft_padded_line(&last, complex_bytes));
  /* The last dimension is first, but for the inverse of real transforms. */
  int64_t place = kind == ALULA_IRFFT ? step - (rank - 1) : step;
  if (place >= 0 && place < count) {
    int64_t together = alula_fft_together(kind, last.n);
    if (!last.is_split)
      return alula_fft_divide_up(last.lines, together * lanes);
    if (count == 1)
      return alula_fft_divide_up(last.lines, together);
    alula_fft_split s = alula_fft_split_of(last.length, complex_bytes);
    if (kind == ALULA_RFFT && last.n % 2 == 0 && place + 1 == count)
      return last.lines * alula_fft_divide_up(last.n / 4 + 1, ALULA_FFT_ENDING);
    return last.lines * alula_fft_divide_up(place == 1 ? s.n1 : s.n2, lanes);
  }
  int64_t dimension = kind == ALULA_IRFFT ? step : step - count;
  int64_t outer = arrays, inner = last.columns;
  for (int64_t d = 0; d < dimension; ++d)
    outer *= lengths[d];
  for (int64_t d = dimension + 1; d + 1 < rank; ++d)
    inner *= lengths[d];
  return outer * alula_fft_divide_up(inner, lanes);
}

/* What all blocks of all steps cost. */
static inline int64_t alula_fft_cost(int32_t kind, int64_t rank,
                                     const int64_t *lengths, int64_t arrays,
                                     int64_t complex_bytes) {
  int64_t volume = arrays, cost = 0;
  for (int64_t d = 0; d < rank; ++d)
    volume *= lengths[d];
  for (int64_t d = 0; d < rank; ++d)
    cost +=
        volume *
        (alula_fft_line_cost(lengths[d]) / (lengths[d] ? lengths[d] : 1) + 20);
  return (kind >= ALULA_RFFT ? cost / 2 : cost) * complex_bytes /
         ALULA_FFT_NUMBERS;
}

/* Bytes of a split line between its steps. */
static inline int64_t alula_fft_matrix_bytes(const alula_fft_split *split,
                                             int64_t complex_bytes) {
  int64_t lanes = ALULA_FFT_NUMBERS / complex_bytes;
  return alula_fft_divide_up(split->n1, lanes) * split->n2 * ALULA_FFT_NUMBERS;
}

/* What steps leave for each other: the spectrum that the inverse of a real
 * transform may not change in its input, split lines between their steps. */
static inline int64_t alula_fft_shared_bytes(int32_t kind, int64_t rank,
                                             const int64_t *lengths,
                                             int64_t arrays,
                                             int64_t complex_bytes) {
  alula_fft_last last =
      alula_fft_last_of(kind, rank, lengths, arrays, complex_bytes);
  int64_t bytes = 0;
  if (kind == ALULA_IRFFT && rank > 1)
    bytes += (last.lines * last.columns * complex_bytes + 63) / 64 * 64;
  if (last.is_split) {
    alula_fft_split s = alula_fft_split_of(last.length, complex_bytes);
    if (alula_fft_last_steps(&last, kind, s.padded) > 1)
      bytes += last.lines * alula_fft_matrix_bytes(&s, complex_bytes);
  }
  return bytes ? bytes + 64 : 0;
}

/* Of one block of the step that needs most. */
static inline int64_t alula_fft_scratch_bytes(int32_t kind, int64_t rank,
                                              const int64_t *lengths,
                                              int64_t arrays,
                                              int64_t complex_bytes) {
  alula_fft_last last =
      alula_fft_last_of(kind, rank, lengths, arrays, complex_bytes);
  int64_t most = 0, extra = 0;
  for (int64_t d = 0; d + 1 < rank; ++d)
    most = lengths[d] > most ? lengths[d] : most;
  most = alula_fft_line_length(most);
  if (last.is_split) {
    alula_fft_split s = alula_fft_split_of(last.length, complex_bytes);
    int64_t longer = alula_fft_line_length(s.n1 > s.n2 ? s.n1 : s.n2);
    most = longer > most ? longer : most;
    extra = s.n1 * complex_bytes;
    if (alula_fft_last_steps(&last, kind, s.padded) == 1)
      extra += alula_fft_matrix_bytes(&s, complex_bytes) +
               (alula_fft_together(kind, last.n) - 1) *
                   (last.n * complex_bytes + 64);
  } else {
    int64_t longer = alula_fft_line_length(last.length);
    longer = last.columns > longer ? last.columns : longer;
    most = longer > most ? longer : most;
  }
  return 2 * (most + 1) * ALULA_FFT_NUMBERS + 128 + extra;
}

#ifdef __cplusplus
}
#endif
