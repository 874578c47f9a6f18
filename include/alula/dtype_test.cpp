// The element type list against what ml_dtypes and PJRT say.

#include "alula/dtype.h"
#include "alula/status.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace {

TEST(Dtype, CodesAndNamesAreDistinctAndRoundTrip) {
  std::set<uint32_t> pjrt;
  std::set<std::string> names;
  // Elements of 2 and 4 bits that took a byte each.
  std::set<uint32_t> retired = {2, 3, 8, 9, 28};
  for (uint32_t type = 1; type <= ALULA_DTYPE_LAST; ++type) {
    ASSERT_EQ(alula_dtype_get_kind(type) == ALULA_KIND_INVALID,
              retired.count(type) == 1)
        << type;
    if (retired.count(type))
      continue;
    std::string name = alula_dtype_get_name(type);
    EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_TRUE(pjrt.insert(alula_dtype_get_pjrt(type)).second) << name;
    EXPECT_EQ(alula_dtype_from_name(name.data(), name.size()), type);
    EXPECT_EQ(alula_dtype_from_pjrt(alula_dtype_get_pjrt(type)), type);
  }
}

TEST(Dtype, ArraysOfTheHostHaveWholeBytes) {
  for (uint32_t type = 1; type <= ALULA_DTYPE_LAST; ++type)
    EXPECT_EQ(alula_dtype_get_bytes(type), (alula_dtype_get_bits(type) + 7) / 8)
        << alula_dtype_get_name(type);
}

TEST(Dtype, FloatFormatsFillTheirBits) {
  for (uint32_t type = 1; type <= ALULA_DTYPE_LAST; ++type) {
    alula_float_format format = {};
    bool isFloat = alula_dtype_get_kind(type) == ALULA_KIND_FLOAT;
    ASSERT_EQ(alula_dtype_get_float_format(type, &format), isFloat ? 1 : 0);
    if (isFloat) {
      EXPECT_EQ(unsigned(format.sign_bits + format.exponent_bits +
                         format.mantissa_bits),
                alula_dtype_get_bits(type))
          << alula_dtype_get_name(type);
    }
  }
}

TEST(Dtype, WhatIsNoTypeGivesNothing) {
  for (uint32_t type : {0u, uint32_t(ALULA_DTYPE_LAST) + 1, 255u, ~0u}) {
    EXPECT_EQ(alula_dtype_get_kind(type), ALULA_KIND_INVALID);
    EXPECT_EQ(alula_dtype_get_bits(type), 0u);
    EXPECT_EQ(alula_dtype_get_bytes(type), 0u);
    EXPECT_EQ(alula_dtype_get_name(type), nullptr);
  }
  EXPECT_EQ(alula_dtype_from_name("f33", 3), ALULA_DTYPE_INVALID);
  EXPECT_EQ(alula_dtype_from_name("", 0), ALULA_DTYPE_INVALID);
  EXPECT_EQ(alula_dtype_from_pjrt(30), ALULA_DTYPE_INVALID);
}

TEST(Dtype, TwoAndFourBitsArePacked) {
  EXPECT_EQ(alula_dtype_get_packing(ALULA_DTYPE_I1), 1u);
  EXPECT_EQ(alula_dtype_get_packing(ALULA_DTYPE_F6E2M3FN), 1u);
  EXPECT_EQ(alula_dtype_get_packing(ALULA_DTYPE_I4), 2u);
  EXPECT_EQ(alula_dtype_get_packing(ALULA_DTYPE_UI2), 4u);
  EXPECT_EQ(alula_dtype_get_packed_bytes(ALULA_DTYPE_I4, 9), 5u);
  EXPECT_EQ(alula_dtype_get_packed_bytes(ALULA_DTYPE_I4, 0), 0u);
  EXPECT_EQ(alula_dtype_get_packed_bytes(ALULA_DTYPE_UI4, ~UINT64_C(0)),
            UINT64_C(1) << 63);
  EXPECT_EQ(alula_dtype_get_packed_bytes(ALULA_DTYPE_I2, 5), 2u);
  EXPECT_EQ(alula_dtype_get_packed_bytes(ALULA_DTYPE_F32, 12), 12u);
}

TEST(Dtype, PackingKeepsValues) {
  const int8_t numbers[5] = {-8, 7, -1, 0, 3};
  uint8_t packed[4] = {0xFF, 0xFF, 0xFF, 0xAA};
  alula_dtype_pack(ALULA_DTYPE_I4, numbers, packed, 5);
  // The first of two is in the low bits; the rest of the last byte is zero.
  EXPECT_EQ(packed[0], 0x78);
  EXPECT_EQ(packed[1], 0x0F);
  EXPECT_EQ(packed[2], 0x03);
  EXPECT_EQ(packed[3], 0xAA);
  int8_t back[5] = {};
  alula_dtype_unpack(ALULA_DTYPE_I4, packed, back, 0, 5);
  EXPECT_EQ(memcmp(back, numbers, 5), 0);
  alula_dtype_unpack(ALULA_DTYPE_I4, packed, back, 1, 2);
  EXPECT_EQ(back[0], 7);
  EXPECT_EQ(back[1], -1);
  uint8_t codes[6] = {3, 2, 0xFD, 0, 1, 3}, two[2], again[6];
  alula_dtype_pack(ALULA_DTYPE_UI2, codes, two, 6);
  EXPECT_EQ(two[0], 0b00011011);
  EXPECT_EQ(two[1], 0b1101);
  alula_dtype_unpack(ALULA_DTYPE_UI2, two, again, 0, 6);
  EXPECT_EQ(again[2], 1);
  float single = 1.5f, copy = 0;
  alula_dtype_pack(ALULA_DTYPE_F32, &single, &copy, 1);
  EXPECT_EQ(copy, 1.5f);
}

TEST(Status, Names) {
  EXPECT_STREQ(alula_status_code_name(0), "ok");
  EXPECT_STREQ(alula_status_code_name(3), "invalid argument");
  EXPECT_STREQ(alula_status_code_name(16), "unauthenticated");
  EXPECT_STREQ(alula_status_code_name(99), "unknown");
}

} // namespace
