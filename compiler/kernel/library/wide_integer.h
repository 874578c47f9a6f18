/* Integers of 128 bits, which not every compiler for every machine has. */
#pragma once

#include <stdint.h>

typedef struct {
  uint64_t high, low;
} wide;

static inline wide multiplyWide(uint64_t a, uint64_t b) {
#ifdef __SIZEOF_INT128__
  unsigned __int128 product = (unsigned __int128)a * b;
  return (wide){(uint64_t)(product >> 64), (uint64_t)product};
#else
  uint64_t aLow = (uint32_t)a, aHigh = a >> 32;
  uint64_t bLow = (uint32_t)b, bHigh = b >> 32;
  uint64_t low = aLow * bLow;
  uint64_t middle = aHigh * bLow + (low >> 32);
  uint64_t other = aLow * bHigh + (uint32_t)middle;
  return (wide){aHigh * bHigh + (middle >> 32) + (other >> 32),
                other << 32 | (uint32_t)low};
#endif
}

/* By 0 to 127. */
static inline wide shiftLeftWide(wide x, int64_t count) {
  if (count >= 64)
    return (wide){x.low << (count - 64), 0};
  if (count == 0)
    return x;
  return (wide){x.high << count | x.low >> (64 - count), x.low << count};
}

static inline wide shiftRightWide(wide x, int64_t count) {
  if (count >= 64)
    return (wide){0, x.high >> (count - 64)};
  if (count == 0)
    return x;
  return (wide){x.high >> count, x.low >> count | x.high << (64 - count)};
}

static inline wide addWide(wide a, wide b) {
  uint64_t low = a.low + b.low;
  return (wide){a.high + b.high + (low < a.low), low};
}

static inline wide subtractWide(wide a, wide b) {
  return (wide){a.high - b.high - (a.low < b.low), a.low - b.low};
}

static inline int isLessWide(wide a, wide b) {
  return a.high < b.high || (a.high == b.high && a.low < b.low);
}
