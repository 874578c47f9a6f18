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
  for (uint32_t type = 1; type <= ALULA_DTYPE_LAST; ++type) {
    ASSERT_NE(alula_dtype_get_kind(type), ALULA_KIND_INVALID) << type;
    std::string name = alula_dtype_get_name(type);
    EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_TRUE(pjrt.insert(alula_dtype_get_pjrt(type)).second) << name;
    EXPECT_EQ(alula_dtype_from_name(name.data(), name.size()), type);
    EXPECT_EQ(alula_dtype_from_pjrt(alula_dtype_get_pjrt(type)), type);
  }
}

TEST(Dtype, AnElementTakesWholeBytes) {
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

TEST(Status, Names) {
  EXPECT_STREQ(alula_status_code_name(0), "ok");
  EXPECT_STREQ(alula_status_code_name(3), "invalid argument");
  EXPECT_STREQ(alula_status_code_name(16), "unauthenticated");
  EXPECT_STREQ(alula_status_code_name(99), "unknown");
}

} // namespace
