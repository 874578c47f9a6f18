// Every reduction of every type that it takes, against arithmetic in double or
// in 128 bits, rounded by looking for the nearest number.

#include "runtime/collectives/reduce.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

using namespace alula::runtime;

namespace {

/// What a format of 16 bits means.
double decode(alula_dtype dtype, uint16_t bits) {
  int mantissaBits = dtype == ALULA_DTYPE_BF16 ? 7 : 10;
  int bias = dtype == ALULA_DTYPE_BF16 ? 127 : 15;
  int most = dtype == ALULA_DTYPE_BF16 ? 255 : 31;
  int mantissa = bits & ((1 << mantissaBits) - 1);
  int exponent = (bits & 0x7FFF) >> mantissaBits;
  double sign = bits >> 15 ? -1 : 1;
  if (exponent == most)
    return mantissa ? NAN : sign * INFINITY;
  if (exponent == 0)
    return sign * std::ldexp(mantissa, 1 - bias - mantissaBits);
  return sign * std::ldexp(mantissa + (1 << mantissaBits),
                           exponent - bias - mantissaBits);
}

/// The nearest of the format, ties to even.
uint16_t encode(alula_dtype dtype, double value) {
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  uint16_t infinity = dtype == ALULA_DTYPE_BF16 ? 0x7F80 : 0x7C00;
  value = std::fabs(value);
  if (std::isinf(value))
    return sign | infinity;
  // The last that is not greater; numbers ascend with their bits.
  uint32_t low = 0, high = infinity;
  while (high - low > 1) {
    uint32_t middle = (low + high) / 2;
    (decode(dtype, uint16_t(middle)) <= value ? low : high) = middle;
  }
  double below = decode(dtype, uint16_t(low)), above;
  // Beyond the greatest, the next would stand one step further.
  if (high == infinity)
    above = 2 * below - decode(dtype, uint16_t(low - 1));
  else
    above = decode(dtype, uint16_t(high));
  double down = value - below, up = above - value;
  bool isUp = up < down || (up == down && low % 2);
  return uint16_t(sign | (isUp ? high : low));
}

template <class T>
T reduceOne(alula_reduction reduction, alula_dtype dtype, T a, T b) {
  reduceInto(reduction, dtype, &a, &b, 1);
  return a;
}

void checkNarrow(alula_dtype dtype) {
  std::mt19937 random(1);
  for (int i = 0; i < 300000; ++i) {
    auto a = uint16_t(random()), b = uint16_t(random());
    // Often of the same size, so that the sum is no plain copy.
    if (i % 2)
      b = uint16_t((a & 0xFF00) ^ (random() & 0x83FF));
    double x = decode(dtype, a), y = decode(dtype, b);
    auto check = [&](alula_reduction reduction, double exact) {
      uint16_t got = reduceOne(reduction, dtype, a, b);
      if (std::isnan(exact))
        ASSERT_TRUE(std::isnan(decode(dtype, got))) << x << " " << y;
      else
        ASSERT_EQ(got, encode(dtype, exact))
            << alula_reduction_get_name(reduction) << " of " << x << ", " << y;
    };
    check(ALULA_REDUCTION_SUM, x + y);
    check(ALULA_REDUCTION_PRODUCT, x * y);
    bool isNan = std::isnan(x) || std::isnan(y);
    check(ALULA_REDUCTION_MIN, isNan ? NAN : x < y ? x : y);
    check(ALULA_REDUCTION_MAX, isNan ? NAN : x > y ? x : y);
  }
}

TEST(Reduce, BF16) { checkNarrow(ALULA_DTYPE_BF16); }
TEST(Reduce, F16) { checkNarrow(ALULA_DTYPE_F16); }

template <class T> void checkFloats(alula_dtype dtype) {
  T nan = std::numeric_limits<T>::quiet_NaN(), one = 1, two = 2;
  EXPECT_EQ(reduceOne(ALULA_REDUCTION_SUM, dtype, one, two), 3);
  EXPECT_EQ(reduceOne(ALULA_REDUCTION_PRODUCT, dtype, two, two), 4);
  EXPECT_EQ(reduceOne(ALULA_REDUCTION_MIN, dtype, two, one), 1);
  EXPECT_EQ(reduceOne(ALULA_REDUCTION_MAX, dtype, one, two), 2);
  for (auto reduction : {ALULA_REDUCTION_MIN, ALULA_REDUCTION_MAX}) {
    EXPECT_TRUE(std::isnan(reduceOne(reduction, dtype, nan, one)));
    EXPECT_TRUE(std::isnan(reduceOne(reduction, dtype, one, nan)));
    bool isLess = reduction == ALULA_REDUCTION_MIN;
    EXPECT_EQ(std::signbit(reduceOne(reduction, dtype, T(0), T(-0.0))), isLess);
    EXPECT_EQ(std::signbit(reduceOne(reduction, dtype, T(-0.0), T(0))), isLess);
  }
}

TEST(Reduce, F32) { checkFloats<float>(ALULA_DTYPE_F32); }
TEST(Reduce, F64) { checkFloats<double>(ALULA_DTYPE_F64); }

TEST(Reduce, Complex) {
  std::vector<float> a = {1, 2, 3, 4}, b = {10, 20, 30, 40};
  reduceInto(ALULA_REDUCTION_SUM, ALULA_DTYPE_C64, a.data(), b.data(), 2);
  EXPECT_EQ(a, (std::vector<float>{11, 22, 33, 44}));
  std::vector<double> c = {1, 2}, d = {10, 20};
  reduceInto(ALULA_REDUCTION_SUM, ALULA_DTYPE_C128, c.data(), d.data(), 1);
  EXPECT_EQ(c, (std::vector<double>{11, 22}));
}

template <class T> void checkIntegers(alula_dtype dtype) {
  std::mt19937_64 random(2);
  std::vector<T> numbers = {0, 1, T(-1), std::numeric_limits<T>::min(),
                            std::numeric_limits<T>::max()};
  for (int i = 0; i < 40; ++i)
    numbers.push_back(T(random()));
  for (T a : numbers)
    for (T b : numbers) {
      auto x = __int128(a), y = __int128(b);
      EXPECT_EQ(reduceOne(ALULA_REDUCTION_SUM, dtype, a, b), T(x + y));
      EXPECT_EQ(reduceOne(ALULA_REDUCTION_PRODUCT, dtype, a, b), T(x * y));
      EXPECT_EQ(reduceOne(ALULA_REDUCTION_MIN, dtype, a, b), T(x < y ? x : y));
      EXPECT_EQ(reduceOne(ALULA_REDUCTION_MAX, dtype, a, b), T(x > y ? x : y));
      EXPECT_EQ(reduceOne(ALULA_REDUCTION_AND, dtype, a, b), T(x & y));
      EXPECT_EQ(reduceOne(ALULA_REDUCTION_OR, dtype, a, b), T(x | y));
      EXPECT_EQ(reduceOne(ALULA_REDUCTION_XOR, dtype, a, b), T(x ^ y));
    }
}

TEST(Reduce, Integers) {
  checkIntegers<int8_t>(ALULA_DTYPE_I8);
  checkIntegers<int16_t>(ALULA_DTYPE_I16);
  checkIntegers<int32_t>(ALULA_DTYPE_I32);
  checkIntegers<int64_t>(ALULA_DTYPE_I64);
  checkIntegers<uint8_t>(ALULA_DTYPE_UI8);
  checkIntegers<uint16_t>(ALULA_DTYPE_UI16);
  checkIntegers<uint32_t>(ALULA_DTYPE_UI32);
  checkIntegers<uint64_t>(ALULA_DTYPE_UI64);
}

TEST(Reduce, Booleans) {
  for (uint8_t a = 0; a < 2; ++a)
    for (uint8_t b = 0; b < 2; ++b) {
      EXPECT_EQ(reduceOne(ALULA_REDUCTION_AND, ALULA_DTYPE_I1, a, b), a & b);
      EXPECT_EQ(reduceOne(ALULA_REDUCTION_OR, ALULA_DTYPE_I1, a, b), a | b);
      EXPECT_EQ(reduceOne(ALULA_REDUCTION_XOR, ALULA_DTYPE_I1, a, b), a ^ b);
    }
}

TEST(Reduce, WhatIsTaken) {
  EXPECT_TRUE(alula_reduction_takes(ALULA_REDUCTION_SUM, ALULA_DTYPE_C64));
  EXPECT_FALSE(alula_reduction_takes(ALULA_REDUCTION_PRODUCT, ALULA_DTYPE_C64));
  EXPECT_FALSE(alula_reduction_takes(ALULA_REDUCTION_SUM, ALULA_DTYPE_I1));
  EXPECT_FALSE(alula_reduction_takes(ALULA_REDUCTION_SUM, ALULA_DTYPE_I4));
  EXPECT_FALSE(alula_reduction_takes(ALULA_REDUCTION_SUM, ALULA_DTYPE_F8E5M2));
  EXPECT_FALSE(alula_reduction_takes(ALULA_REDUCTION_AND, ALULA_DTYPE_F32));
  EXPECT_FALSE(alula_reduction_takes(ALULA_REDUCTION_NONE, ALULA_DTYPE_F32));
  EXPECT_FALSE(alula_reduction_takes(alula_reduction(9), ALULA_DTYPE_F32));
}

} // namespace
