#include "dialect/newer/float_format.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>

using namespace alula::newer;

// Values and codes are those of ml_dtypes.

TEST(FloatFormat, DecodesBorderCodes) {
  EXPECT_EQ(decode(FloatFormat::F8E3M4, 0x01), 0.015625);
  EXPECT_EQ(decode(FloatFormat::F8E3M4, 0x38), 1.5);
  EXPECT_EQ(decode(FloatFormat::F8E3M4, 0x6F), 15.5);
  EXPECT_EQ(decode(FloatFormat::F8E3M4, 0xF0),
            -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(decode(FloatFormat::F8E3M4, 0x78)));
  EXPECT_EQ(decode(FloatFormat::F8E8M0FNU, 0x00), std::ldexp(1.0, -127));
  EXPECT_EQ(decode(FloatFormat::F8E8M0FNU, 0xFE), std::ldexp(1.0, 127));
  EXPECT_TRUE(std::isnan(decode(FloatFormat::F8E8M0FNU, 0xFF)));
  EXPECT_EQ(decode(FloatFormat::F6E2M3FN, 0x1F), 7.5);
  EXPECT_EQ(decode(FloatFormat::F6E3M2FN, 0x3F), -28.0);
  EXPECT_EQ(decode(FloatFormat::F4E2M1FN, 0x0F), -6.0);
  EXPECT_TRUE(std::signbit(decode(FloatFormat::F4E2M1FN, 0x08)));
}

TEST(FloatFormat, EveryFiniteCodeSurvives) {
  for (FloatFormat format : allFloatFormats)
    for (unsigned code = 0; code < (1u << getInfo(format).bitWidth); ++code)
      if (!isNaN(format, uint8_t(code))) {
        EXPECT_EQ(encode(format, decode(format, uint8_t(code))), code)
            << getInfo(format).name.str();
      }
}

TEST(FloatFormat, RoundsTiesToEven) {
  EXPECT_EQ(encode(FloatFormat::F4E2M1FN, 0.25), 0x0); // between 0 and 0.5
  EXPECT_EQ(encode(FloatFormat::F4E2M1FN, 0.75), 0x2); // between 0.5 and 1
  EXPECT_EQ(encode(FloatFormat::F4E2M1FN, 5.0), 0x6);  // between 4 and 6
  EXPECT_EQ(encode(FloatFormat::F8E3M4, 15.74), 0x6F);
  EXPECT_EQ(encode(FloatFormat::F8E3M4, 15.75), 0x70);
  EXPECT_EQ(encode(FloatFormat::F8E8M0FNU, 0.75), 0x7F);
  EXPECT_EQ(encode(FloatFormat::F8E8M0FNU, 1.4), 0x7F);
}

TEST(FloatFormat, TooLargeAndNaN) {
  double inf = std::numeric_limits<double>::infinity();
  double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(encode(FloatFormat::F8E3M4, -1e30), 0xF0);
  EXPECT_EQ(encode(FloatFormat::F8E3M4, nan), 0x78);
  EXPECT_EQ(encode(FloatFormat::F8E8M0FNU, 1e39), 0xFF);
  EXPECT_EQ(encode(FloatFormat::F8E8M0FNU, -1.0), 0xFF);
  EXPECT_EQ(encode(FloatFormat::F8E8M0FNU, 0.0), 0x00);
  EXPECT_EQ(encode(FloatFormat::F6E2M3FN, inf), 0x1F);
  EXPECT_EQ(encode(FloatFormat::F6E3M2FN, -inf), 0x3F);
  EXPECT_EQ(encode(FloatFormat::F4E2M1FN, 100.0), 0x7);
  EXPECT_EQ(encode(FloatFormat::F4E2M1FN, nan), 0x8);
}

TEST(FloatFormat, Names) {
  EXPECT_EQ(parseFloatFormat("f8E8M0FNU"), FloatFormat::F8E8M0FNU);
  EXPECT_EQ(parseFloatFormat("f8E4M3FN"), std::nullopt);
}
