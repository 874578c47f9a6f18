// Threefry and Philox, written so that loops over counters vectorize.
#include "compiler/kernel/library/random.h"
#include "compiler/kernel/library/code_forms.h"

INLINE uint32_t rotate(uint32_t x, int32_t distance) {
  return x << distance | x >> (32 - distance);
}

#define ROUND(DISTANCE)                                                        \
  x += y;                                                                      \
  y = rotate(y, DISTANCE) ^ x;

/// Both words in one number, the first one low.
INLINE uint64_t threefry(uint32_t key0, uint32_t key1, uint32_t x,
                         uint32_t y) {
  uint32_t key2 = key0 ^ key1 ^ 0x1BD11BDA;
  x += key0;
  y += key1;
  ROUND(13) ROUND(15) ROUND(26) ROUND(6)
  x += key1;
  y += key2 + 1;
  ROUND(17) ROUND(29) ROUND(16) ROUND(24)
  x += key2;
  y += key0 + 2;
  ROUND(13) ROUND(15) ROUND(26) ROUND(6)
  x += key0;
  y += key1 + 3;
  ROUND(17) ROUND(29) ROUND(16) ROUND(24)
  x += key1;
  y += key2 + 4;
  ROUND(13) ROUND(15) ROUND(26) ROUND(6)
  x += key2;
  y += key0 + 5;
  return x | (uint64_t)y << 32;
}

void alula_threefry2x32_u32(const uint32_t *key, const uint32_t *x0,
                            const uint32_t *x1, uint32_t *y0, uint32_t *y1,
                            int64_t count) {
  uint32_t key0 = key[0], key1 = key[1];
  for (int64_t k = 0; k < count; ++k) {
    uint64_t pair = threefry(key0, key1, x0[k], x1[k]);
    y0[k] = (uint32_t)pair;
    y1[k] = (uint32_t)(pair >> 32);
  }
}

typedef struct {
  uint32_t word[4];
} Four;

INLINE Four philox(uint64_t key, uint64_t low, uint64_t high) {
  uint32_t key0 = (uint32_t)key, key1 = (uint32_t)(key >> 32);
  uint32_t a = (uint32_t)low, b = (uint32_t)(low >> 32);
  uint32_t c = (uint32_t)high, d = (uint32_t)(high >> 32);
#pragma clang loop unroll(full)
  for (int32_t round = 0; round < 10; ++round) {
    uint64_t first = (uint64_t)0xD2511F53 * a;
    uint64_t second = (uint64_t)0xCD9E8D57 * c;
    a = (uint32_t)(second >> 32) ^ b ^ key0;
    b = (uint32_t)second;
    c = (uint32_t)(first >> 32) ^ d ^ key1;
    d = (uint32_t)first;
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  return (Four){{a, b, c, d}};
}

/// The counter's upper half for a state of two words is the key.
INLINE uint64_t upper(const uint64_t *state, int64_t words) {
  return words > 2 ? state[2] : state[0];
}

static void advance_philox(const uint64_t *state, int64_t words, uint64_t *next,
                          uint64_t steps) {
  if (!next)
    return;
  uint64_t low = state[1] + steps, carry = low < state[1];
  next[0] = state[0];
  if (words > 2)
    next[2] = state[2] + carry;
  next[1] = low;
}

#define DEFINE(U, WORD)                                                        \
  void alula_threefry_bits_##U(const uint64_t *state, uint64_t *next_state,    \
                               WORD *bits, int64_t outer, int64_t size,        \
                               int64_t inner) {                                \
    uint32_t key0 = (uint32_t)state[0], key1 = (uint32_t)(state[0] >> 32);     \
    uint64_t at = state[1], half = (uint64_t)((size + 1) / 2);                 \
    for (int64_t o = 0; o < outer; ++o, bits += size * inner) {                \
      if (inner == 1) {                                                        \
        for (int64_t h = 0; h < size / 2; ++h) {                               \
          uint64_t counter = at + (uint64_t)h;                                 \
          uint64_t pair = threefry(key0, key1, (uint32_t)counter,              \
                                   (uint32_t)(counter >> 32));                 \
          bits[2 * h] = (WORD)pair;                                            \
          bits[2 * h + 1] = (WORD)(pair >> 32);                                \
        }                                                                      \
        if (size % 2) {                                                        \
          uint64_t counter = at + half - 1;                                    \
          bits[size - 1] = (WORD)threefry(key0, key1, (uint32_t)counter,       \
                                          (uint32_t)(counter >> 32));          \
        }                                                                      \
        at += half;                                                            \
        continue;                                                              \
      }                                                                        \
      for (int64_t h = 0; h < (int64_t)half; ++h, at += (uint64_t)inner) {     \
        WORD *first = bits + 2 * h * inner;                                    \
        WORD *second = first + inner;                                          \
        int32_t paired = 2 * h + 1 < size;                                     \
        for (int64_t i = 0; i < inner; ++i) {                                  \
          uint64_t counter = at + (uint64_t)i;                                 \
          uint64_t pair = threefry(key0, key1, (uint32_t)counter,              \
                                   (uint32_t)(counter >> 32));                 \
          first[i] = (WORD)pair;                                               \
          if (paired)                                                          \
            second[i] = (WORD)(pair >> 32);                                    \
        }                                                                      \
      }                                                                        \
    }                                                                          \
    if (next_state) {                                                          \
      next_state[0] = state[0];                                                \
      next_state[1] = at;                                                      \
    }                                                                          \
  }                                                                            \
                                                                               \
  void alula_philox_bits_##U(const uint64_t *state, int64_t state_words,       \
                             uint64_t *next_state, WORD *bits,                 \
                             int64_t count) {                                  \
    uint64_t key = state[0], low = state[1];                                   \
    uint64_t high = upper(state, state_words);                                 \
    for (int64_t k = 0; k < count / 4; ++k) {                                  \
      uint64_t counter = low + (uint64_t)k;                                    \
      Four four = philox(key, counter, high + (counter < low));                \
      bits[4 * k] = (WORD)four.word[0];                                        \
      bits[4 * k + 1] = (WORD)four.word[1];                                    \
      bits[4 * k + 2] = (WORD)four.word[2];                                    \
      bits[4 * k + 3] = (WORD)four.word[3];                                    \
    }                                                                          \
    uint64_t whole = (uint64_t)(count / 4), counter = low + whole;             \
    if (count % 4) {                                                           \
      Four four = philox(key, counter, high + (counter < low));                \
      for (int64_t k = 0; k < count % 4; ++k)                                  \
        bits[count / 4 * 4 + k] = (WORD)four.word[k];                          \
    }                                                                          \
    advance_philox(state, state_words, next_state,                              \
                  whole + (count % 4 != 0));                                   \
  }

DEFINE(u8, uint8_t)
DEFINE(u16, uint16_t)
DEFINE(u32, uint32_t)

void alula_threefry_bits_u64(const uint64_t *state, uint64_t *next_state,
                             uint64_t *bits, int64_t outer, int64_t size,
                             int64_t inner) {
  uint32_t key0 = (uint32_t)state[0], key1 = (uint32_t)(state[0] >> 32);
  uint64_t start = state[1];
  int64_t count = outer * size * inner;
  for (int64_t k = 0; k < count; ++k) {
    uint64_t counter = start + (uint64_t)k;
    bits[k] = threefry(key0, key1, (uint32_t)counter,
                       (uint32_t)(counter >> 32));
  }
  if (next_state) {
    next_state[0] = state[0];
    next_state[1] = start + (uint64_t)count;
  }
}

void alula_philox_bits_u64(const uint64_t *state, int64_t state_words,
                           uint64_t *next_state, uint64_t *bits,
                           int64_t count) {
  uint64_t key = state[0], low = state[1];
  uint64_t high = upper(state, state_words);
  for (int64_t k = 0; k < count / 2; ++k) {
    uint64_t counter = low + (uint64_t)k;
    Four four = philox(key, counter, high + (counter < low));
    bits[2 * k] = four.word[0] | (uint64_t)four.word[1] << 32;
    bits[2 * k + 1] = four.word[2] | (uint64_t)four.word[3] << 32;
  }
  if (count % 2) {
    uint64_t counter = low + (uint64_t)(count / 2);
    Four four = philox(key, counter, high + (counter < low));
    bits[count - 1] = four.word[0] | (uint64_t)four.word[1] << 32;
  }
  advance_philox(state, state_words, next_state, (uint64_t)((count + 1) / 2));
}
