#include "runtime/collectives/reduce.h"

#include <cstring>

namespace alula::runtime {
namespace {

// ---- Narrow floats, by way of float: one operation on two of them is exact
// enough there that rounding once more gives what rounding once would. ----

float fromBits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

uint32_t toBits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

struct BFloat {
  uint16_t bits;

  explicit operator float() const { return fromBits(uint32_t(bits) << 16); }
  static BFloat round(float value) {
    uint32_t wide = toBits(value);
    if (value != value)
      return {uint16_t(wide >> 16 | 0x40)};
    // To the nearest, ties to even.
    return {uint16_t((wide + 0x7FFF + (wide >> 16 & 1)) >> 16)};
  }
};

struct Half {
  uint16_t bits;

  explicit operator float() const {
    uint32_t sign = uint32_t(bits & 0x8000) << 16, rest = bits & 0x7FFF;
    if (rest >= 0x7C00)
      return fromBits(sign | 0x7F800000 | (rest & 0x3FF) << 13);
    // Scaling by 2^112 sets the exponent right, of subnormal numbers too.
    return fromBits(sign | toBits(fromBits(rest << 13) * 0x1p112f));
  }
  static Half round(float value) {
    uint32_t wide = toBits(value), sign = wide >> 16 & 0x8000;
    wide &= 0x7FFFFFFF;
    if (wide > 0x7F800000)
      return {uint16_t(sign | 0x7E00)};
    if (wide >= 0x477FF000)
      return {uint16_t(sign | 0x7C00)};
    // Below the least normal number the sum with 0.5 rounds to its last bit.
    if (wide < 0x38800000)
      return {uint16_t(sign | (toBits(fromBits(wide) + 0.5f) - 0x3F000000))};
    return {
        uint16_t(sign | (wide - 0x38000000 + 0xFFF + (wide >> 13 & 1)) >> 13)};
  }
};

// ---- Operations ----

template <class T> T pickLess(T a, T b) { return b < a ? b : a; }
template <class T> T pickGreater(T a, T b) { return a < b ? b : a; }

/// A NaN wins; of zeros the one with the sign that is asked for.
template <class T> T pickFloat(T a, T b, bool wantsLess) {
  if (a != a)
    return a;
  if (b != b)
    return b;
  if (a == b)
    return bool(__builtin_signbit(a)) == wantsLess ? a : b;
  return (a < b) == wantsLess ? a : b;
}
float pickLess(float a, float b) { return pickFloat(a, b, true); }
float pickGreater(float a, float b) { return pickFloat(a, b, false); }
double pickLess(double a, double b) { return pickFloat(a, b, true); }
double pickGreater(double a, double b) { return pickFloat(a, b, false); }

template <class T> T loadOne(const T &value) { return value; }
float loadOne(BFloat value) { return float(value); }
float loadOne(Half value) { return float(value); }
template <class T, class Wide> void storeOne(T &to, Wide value) {
  to = T(value);
}
void storeOne(BFloat &to, float value) { to = BFloat::round(value); }
void storeOne(Half &to, float value) { to = Half::round(value); }

template <class T, class Operation>
void forEach(void *into, const void *from, uint64_t count, Operation combine) {
  auto *__restrict to = static_cast<T *>(into);
  auto *__restrict other = static_cast<const T *>(from);
  for (uint64_t i = 0; i < count; ++i)
    storeOne(to[i], combine(loadOne(to[i]), loadOne(other[i])));
}

template <class T>
void compare(alula_reduction reduction, void *into, const void *from,
             uint64_t count) {
  if (reduction == ALULA_REDUCTION_MIN)
    forEach<T>(into, from, count,
               [](auto a, auto b) { return pickLess(a, b); });
  else
    forEach<T>(into, from, count,
               [](auto a, auto b) { return pickGreater(a, b); });
}

template <class T>
void calculate(alula_reduction reduction, void *into, const void *from,
               uint64_t count) {
  if (reduction == ALULA_REDUCTION_SUM)
    forEach<T>(into, from, count, [](auto a, auto b) { return a + b; });
  else
    forEach<T>(into, from, count, [](auto a, auto b) { return a * b; });
}

/// Not in int, to which narrow numbers would be promoted: it may overflow.
template <class T>
void calculateWrapping(alula_reduction reduction, void *into, const void *from,
                       uint64_t count) {
  auto *__restrict to = static_cast<T *>(into);
  auto *__restrict other = static_cast<const T *>(from);
  for (uint64_t i = 0; i < count; ++i)
    to[i] = reduction == ALULA_REDUCTION_SUM ? T(uint64_t(to[i]) + other[i])
                                             : T(uint64_t(to[i]) * other[i]);
}

void combineBits(alula_reduction reduction, void *into, const void *from,
                 uint64_t bytes) {
  switch (reduction) {
  case ALULA_REDUCTION_AND:
    return forEach<uint8_t>(into, from, bytes,
                            [](auto a, auto b) { return a & b; });
  case ALULA_REDUCTION_OR:
    return forEach<uint8_t>(into, from, bytes,
                            [](auto a, auto b) { return a | b; });
  default:
    return forEach<uint8_t>(into, from, bytes,
                            [](auto a, auto b) { return a ^ b; });
  }
}

template <class T, class Unsigned>
void reduceIntegers(alula_reduction reduction, void *into, const void *from,
                    uint64_t count) {
  if (reduction == ALULA_REDUCTION_MIN || reduction == ALULA_REDUCTION_MAX)
    compare<T>(reduction, into, from, count);
  else
    calculateWrapping<Unsigned>(reduction, into, from, count);
}

template <class T>
void reduceFloats(alula_reduction reduction, void *into, const void *from,
                  uint64_t count) {
  if (reduction == ALULA_REDUCTION_MIN || reduction == ALULA_REDUCTION_MAX)
    compare<T>(reduction, into, from, count);
  else
    calculate<T>(reduction, into, from, count);
}

} // namespace

void reduceInto(alula_reduction reduction, alula_dtype dtype, void *into,
                const void *from, uint64_t count) {
  if (reduction >= ALULA_REDUCTION_AND)
    return combineBits(reduction, into, from,
                       count * alula_dtype_get_bytes(dtype));
  switch (dtype) {
  case ALULA_DTYPE_I8:
    return reduceIntegers<int8_t, uint8_t>(reduction, into, from, count);
  case ALULA_DTYPE_UI8:
    return reduceIntegers<uint8_t, uint8_t>(reduction, into, from, count);
  case ALULA_DTYPE_I16:
    return reduceIntegers<int16_t, uint16_t>(reduction, into, from, count);
  case ALULA_DTYPE_UI16:
    return reduceIntegers<uint16_t, uint16_t>(reduction, into, from, count);
  case ALULA_DTYPE_I32:
    return reduceIntegers<int32_t, uint32_t>(reduction, into, from, count);
  case ALULA_DTYPE_UI32:
    return reduceIntegers<uint32_t, uint32_t>(reduction, into, from, count);
  case ALULA_DTYPE_I64:
    return reduceIntegers<int64_t, uint64_t>(reduction, into, from, count);
  case ALULA_DTYPE_UI64:
    return reduceIntegers<uint64_t, uint64_t>(reduction, into, from, count);
  case ALULA_DTYPE_BF16:
    return reduceFloats<BFloat>(reduction, into, from, count);
  case ALULA_DTYPE_F16:
    return reduceFloats<Half>(reduction, into, from, count);
  case ALULA_DTYPE_F32:
    return reduceFloats<float>(reduction, into, from, count);
  case ALULA_DTYPE_F64:
    return reduceFloats<double>(reduction, into, from, count);
  // Sums of complex numbers are sums of their parts.
  case ALULA_DTYPE_C64:
    return reduceFloats<float>(reduction, into, from, 2 * count);
  case ALULA_DTYPE_C128:
    return reduceFloats<double>(reduction, into, from, 2 * count);
  default:
    return;
  }
}

} // namespace alula::runtime
