/* What LLVM's code generator calls by name where a machine has no instruction.
 * Nothing here may use what it defines. */
#include "compiler/kernel/library/encode_float.h"
#include "compiler/kernel/library/remainder.h"
#include "compiler/kernel/library/wide_integer.h"

#include <stddef.h>
#include <stdint.h>

void *memcpy(void *restrict to, const void *restrict from, size_t size);
void *memmove(void *to, const void *from, size_t size);
void *memset(void *to, int value, size_t size);
int memcmp(const void *a, const void *b, size_t size);
int bcmp(const void *a, const void *b, size_t size);

void *memcpy(void *restrict to, const void *restrict from, size_t size) {
  unsigned char *out = to;
  const unsigned char *in = from;
  for (size_t i = 0; i < size; ++i)
    out[i] = in[i];
  return to;
}

void *memmove(void *to, const void *from, size_t size) {
  unsigned char *out = to;
  const unsigned char *in = from;
  if ((uintptr_t)to - (uintptr_t)from >= size) {
    for (size_t i = 0; i < size; ++i)
      out[i] = in[i];
    return to;
  }
  for (size_t i = size; i > 0; --i)
    out[i - 1] = in[i - 1];
  return to;
}

void *memset(void *to, int value, size_t size) {
  unsigned char *out = to;
  for (size_t i = 0; i < size; ++i)
    out[i] = (unsigned char)value;
  return to;
}

int memcmp(const void *a, const void *b, size_t size) {
  const unsigned char *x = a, *y = b;
  for (size_t i = 0; i < size; ++i)
    if (x[i] != y[i])
      return x[i] - y[i];
  return 0;
}

int bcmp(const void *a, const void *b, size_t size) {
  return memcmp(a, b, size);
}

#ifdef __arm__
/* What ARM's own convention calls these, without results. */
void __aeabi_memcpy(void *restrict to, const void *restrict from, size_t size);
void __aeabi_memcpy4(void *restrict to, const void *restrict from, size_t size);
void __aeabi_memcpy8(void *restrict to, const void *restrict from, size_t size);
void __aeabi_memmove(void *to, const void *from, size_t size);
void __aeabi_memmove4(void *to, const void *from, size_t size);
void __aeabi_memmove8(void *to, const void *from, size_t size);
void __aeabi_memset(void *to, size_t size, int value);
void __aeabi_memset4(void *to, size_t size, int value);
void __aeabi_memset8(void *to, size_t size, int value);
void __aeabi_memclr(void *to, size_t size);
void __aeabi_memclr4(void *to, size_t size);
void __aeabi_memclr8(void *to, size_t size);

#define ALULA_AEABI(SUFFIX)                                                    \
  void __aeabi_memcpy##SUFFIX(void *restrict to, const void *restrict from,    \
                              size_t size) {                                   \
    unsigned char *out = to;                                                   \
    const unsigned char *in = from;                                            \
    for (size_t i = 0; i < size; ++i)                                          \
      out[i] = in[i];                                                          \
  }                                                                            \
  void __aeabi_memmove##SUFFIX(void *to, const void *from, size_t size) {      \
    unsigned char *out = to;                                                   \
    const unsigned char *in = from;                                            \
    if ((uintptr_t)to - (uintptr_t)from >= size)                               \
      for (size_t i = 0; i < size; ++i)                                        \
        out[i] = in[i];                                                        \
    else                                                                       \
      for (size_t i = size; i > 0; --i)                                        \
        out[i - 1] = in[i - 1];                                                \
  }                                                                            \
  void __aeabi_memset##SUFFIX(void *to, size_t size, int value) {              \
    unsigned char *out = to;                                                   \
    for (size_t i = 0; i < size; ++i)                                          \
      out[i] = (unsigned char)value;                                           \
  }                                                                            \
  void __aeabi_memclr##SUFFIX(void *to, size_t size) {                         \
    unsigned char *out = to;                                                   \
    for (size_t i = 0; i < size; ++i)                                          \
      out[i] = 0;                                                              \
  }
ALULA_AEABI()
ALULA_AEABI(4)
ALULA_AEABI(8)

/* For those of them that have no floats. */
#include "compiler/kernel/library/soft_float.inc"
SOFT_FLOATS(SOFT_FLOAT)
#endif

/* Halves. The types are as the code generator passes them. */

static inline float decodeHalf(uint16_t code) {
  return decodeF32((smallFloat){5, 10, 15, ALULA_FLOAT_IEEE}, code);
}

static inline uint16_t encodeHalf(float x) {
  return (uint16_t)encodeF32((smallFloat){5, 10, 15, ALULA_FLOAT_IEEE}, x);
}

#ifdef __FLT16_MAX__
static inline _Float16 halfOfCode(int32_t code) {
  uint16_t bits = (uint16_t)code;
  _Float16 half;
  __builtin_memcpy(&half, &bits, sizeof half);
  return half;
}

float __extendhfsf2(_Float16 x);
_Float16 __truncsfhf2(float x);
_Float16 __truncdfhf2(double x);

float __extendhfsf2(_Float16 x) {
  uint16_t code;
  __builtin_memcpy(&code, &x, sizeof code);
  return decodeHalf(code);
}

_Float16 __truncsfhf2(float x) { return halfOfCode(encodeHalf(x)); }

_Float16 __truncdfhf2(double x) {
  return halfOfCode(encodeF64((smallFloat){5, 10, 15, ALULA_FLOAT_IEEE}, x));
}

#else
/* Compilers that have no such type pass its bits. */
float __extendhfsf2(uint16_t x);
uint16_t __truncsfhf2(float x);
uint16_t __truncdfhf2(double x);

float __extendhfsf2(uint16_t x) { return decodeHalf(x); }
uint16_t __truncsfhf2(float x) { return encodeHalf(x); }
uint16_t __truncdfhf2(double x) {
  return (uint16_t)encodeF64((smallFloat){5, 10, 15, ALULA_FLOAT_IEEE}, x);
}
#endif

float __gnu_h2f_ieee(uint16_t x);
uint16_t __gnu_f2h_ieee(float x);
float __gnu_h2f_ieee(uint16_t x) { return decodeHalf(x); }
uint16_t __gnu_f2h_ieee(float x) { return encodeHalf(x); }

#ifdef ALULA_HAS_BF16
static inline __bf16 brainOfCode(int32_t code) {
  uint16_t bits = (uint16_t)code;
  __bf16 brain;
  __builtin_memcpy(&brain, &bits, sizeof brain);
  return brain;
}

__bf16 __truncsfbf2(float x);
__bf16 __truncdfbf2(double x);

__bf16 __truncsfbf2(float x) {
  return brainOfCode(encodeF32((smallFloat){8, 7, 127, ALULA_FLOAT_IEEE}, x));
}

__bf16 __truncdfbf2(double x) {
  return brainOfCode(encodeF64((smallFloat){8, 7, 127, ALULA_FLOAT_IEEE}, x));
}

#endif

/* Remainders. */

float fmodf(float x, float y);
double fmod(double x, double y);
float fmodf(float x, float y) { return remainderF32(x, y); }
double fmod(double x, double y) { return remainderF64(x, y); }

/* Rounding to integers, for machines before SSE 4.1. */

double trunc(double x);
double floor(double x);
double ceil(double x);
double round(double x);
double rint(double x);
double nearbyint(double x);
double roundeven(double x);
float truncf(float x);
float floorf(float x);
float ceilf(float x);
float roundf(float x);
float rintf(float x);
float nearbyintf(float x);
float roundevenf(float x);

static inline double truncated(double x) {
  uint64_t bits = bitsOfF64(x);
  int64_t exponent = (int64_t)(bits >> 52 & 0x7ff) - 1023;
  if (exponent >= 52)
    return x;
  uint64_t kept =
      exponent < 0 ? (uint64_t)1 << 63 : ~(0xfffffffffffffu >> exponent);
  return doubleOfBits(bits & kept);
}

/* The numbers added and subtracted round to even. */
static inline double rounded(double x) {
  double size = __builtin_fabs(x);
  return size < 0x1p52 ? copySignF64((size + 0x1p52) - 0x1p52, x) : x;
}

double trunc(double x) { return truncated(x); }
double rint(double x) { return rounded(x); }
double nearbyint(double x) { return rounded(x); }
double roundeven(double x) { return rounded(x); }

double floor(double x) {
  double whole = truncated(x);
  return x < whole ? whole - 1 : whole;
}

double ceil(double x) {
  double whole = truncated(x);
  return x > whole ? whole + 1 : whole;
}

double round(double x) {
  double whole = truncated(x);
  return __builtin_fabs(x - whole) >= 0.5 ? whole + copySignF64(1, x) : whole;
}

static inline float truncatedF32(float x) {
  uint32_t bits = bitsOfF32(x);
  int32_t exponent = (int32_t)(bits >> 23 & 0xff) - 127;
  if (exponent >= 23)
    return x;
  uint32_t kept = exponent < 0 ? 1u << 31 : ~(0x7fffffu >> exponent);
  return floatOfBits(bits & kept);
}

static inline float roundedF32(float x) {
  float size = __builtin_fabsf(x);
  return size < 0x1p23f ? copySignF32((size + 0x1p23f) - 0x1p23f, x) : x;
}

float truncf(float x) { return truncatedF32(x); }
float rintf(float x) { return roundedF32(x); }
float nearbyintf(float x) { return roundedF32(x); }
float roundevenf(float x) { return roundedF32(x); }

float floorf(float x) {
  float whole = truncatedF32(x);
  return x < whole ? whole - 1 : whole;
}

float ceilf(float x) {
  float whole = truncatedF32(x);
  return x > whole ? whole + 1 : whole;
}

float roundf(float x) {
  float whole = truncatedF32(x);
  return __builtin_fabsf(x - whole) >= 0.5f ? whole + copySignF32(1, x) : whole;
}

/* a * b + c with one rounding. */

float fmaf(float a, float b, float c);
double fma(double a, double b, double c);

float fmaf(float a, float b, float c) {
  // The product is exact. The sum is rounded to odd, so that rounding it again
  // to f32 sees on which side of a tie it was.
  double product = (double)a * b;
  pair sum = sumExact(product, c);
  uint64_t bits = bitsOfF64(sum.high);
  if (sum.low != 0 && (bits & 1) == 0 && sum.low == sum.low) {
    int grows = (sum.low > 0) == (sum.high > 0);
    sum.high = doubleOfBits(grows ? bits + 1 : bits - 1);
  }
  return (float)sum.high;
}

/* A finite number other than zero as mantissa * 2^exponent, 53 bits. */
static inline uint64_t takeApart(double x, int64_t *exponent) {
  uint64_t bits = bitsOfF64(x) & 0x7fffffffffffffffu;
  int64_t biased = (int64_t)(bits >> 52);
  if (biased != 0) {
    *exponent = biased - 1075;
    return (bits & 0xfffffffffffffu) | 0x10000000000000u;
  }
  int64_t zeros = __builtin_clzll(bits) - 11;
  *exponent = -1074 - zeros;
  return bits << zeros;
}

/* value >> count, with a one at the end for ones that leave. */
static inline wide shiftSticky(wide value, int64_t count) {
  int isZero = (value.high | value.low) == 0;
  if (count == 0)
    return value;
  if (count > 127)
    return (wide){0, !isZero};
  wide left = shiftLeftWide(value, 128 - count);
  wide kept = shiftRightWide(value, count);
  kept.low |= (left.high | left.low) != 0;
  return kept;
}

/* mantissa * 2^exponent, rounded. */
static inline double putTogether(wide mantissa, int64_t exponent,
                                 int isNegative) {
  if ((mantissa.high | mantissa.low) == 0)
    return 0;
  int64_t zeros = mantissa.high ? __builtin_clzll(mantissa.high)
                                : 64 + __builtin_clzll(mantissa.low);
  mantissa = shiftLeftWide(mantissa, zeros);
  exponent -= zeros;
  // 55 bits are left, or fewer in a denormal: two for rounding.
  int64_t cut = 73;
  if (exponent + cut + 2 < -1074)
    cut = -1076 - exponent;
  uint64_t kept = shiftSticky(mantissa, cut).low;
  uint64_t rounded53 = kept >> 2;
  uint64_t rest = kept & 3;
  rounded53 += rest > 2 || (rest == 2 && (rounded53 & 1));
  int64_t biased = exponent + cut + 2 + 1074;
  if (biased > 2100)
    biased = 2100;
  // A leading one raises the exponent from 0 by itself, and so does a carry.
  uint64_t bits = rounded53 + ((uint64_t)biased << 52);
  if (bits > 0x7ff0000000000000u)
    bits = 0x7ff0000000000000u;
  double result = doubleOfBits(bits);
  return isNegative ? -result : result;
}

double fma(double a, double b, double c) {
  // Zeros, infinities and NaN follow the rules of the two operations.
  if (!(__builtin_fabs(a) < INFINITY_F64) ||
      !(__builtin_fabs(b) < INFINITY_F64) || a == 0 || b == 0)
    return a * b + c;
  if (!(__builtin_fabs(c) < INFINITY_F64))
    return c;
  int productSign = (int)((bitsOfF64(a) ^ bitsOfF64(b)) >> 63);
  int64_t aExponent, bExponent, cExponent;
  uint64_t aMantissa = takeApart(a, &aExponent);
  uint64_t bMantissa = takeApart(b, &bExponent);
  wide product = shiftLeftWide(multiplyWide(aMantissa, bMantissa), 20);
  int64_t exponent = aExponent + bExponent - 20;
  if (c == 0)
    return putTogether(product, exponent, productSign);
  wide addend = shiftLeftWide((wide){0, takeApart(c, &cExponent)}, 72);
  cExponent -= 72;
  // Both have two bits free above, and 20 below: the smaller one moves down.
  int64_t distance = exponent - cExponent;
  if (distance > 0)
    addend = shiftSticky(addend, distance);
  else
    product = shiftSticky(product, -distance);
  exponent = distance > 0 ? exponent : cExponent;
  int cSign = (int)(bitsOfF64(c) >> 63);
  if (cSign == productSign)
    return putTogether(addWide(product, addend), exponent, cSign);
  if (!isLessWide(product, addend))
    return putTogether(subtractWide(product, addend), exponent, productSign);
  return putTogether(subtractWide(addend, product), exponent, cSign);
}
