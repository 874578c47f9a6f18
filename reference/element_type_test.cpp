// Numbers from ml_dtypes and NumPy.
#include "reference/element_type.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace alula::reference;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
const double nan = std::nan("");

TEST(ElementType, EncodesAsMlDtypes) {
  struct Row {
    Kind kind;
    double value;
    uint64_t code;
  };
  const Row rows[] = {
      {Kind::F8E8M0FNU, 1.5, 0x80},     {Kind::F8E8M0FNU, -1.5, 0xff},
      {Kind::F8E8M0FNU, 3, 0x81},       {Kind::F8E8M0FNU, 0, 0xff},
      {Kind::F8E8M0FNU, 5e-39, 0x00},   {Kind::F8E8M0FNU, 1e-30, 0x1b},
      {Kind::F8E8M0FNU, inf, 0xff},     {Kind::F4E2M1FN, 1.5, 0x3},
      {Kind::F4E2M1FN, 1000, 0x7},      {Kind::F4E2M1FN, nan, 0x8},
      {Kind::F6E2M3FN, -3, 0x34},       {Kind::F6E3M2FN, 20, 0x1d},
      {Kind::F8E3M4, 20, 0x70},         {Kind::F8E3M4, 1.5, 0x38},
      {Kind::F8E4M3, 1000, 0x78},       {Kind::F8E4M3FN, 464, 0x7e},
      {Kind::F8E4M3FN, 465, 0x7f},      {Kind::F8E4M3FNUZ, -0.0, 0x00},
      {Kind::F8E4M3FNUZ, 448, 0x80},    {Kind::F8E4M3B11FNUZ, 20, 0x7a},
      {Kind::F8E4M3B11FNUZ, inf, 0x80}, {Kind::F16, 65520, 0x7c00},
      {Kind::F16, 5.96e-8, 0x0001},     {Kind::BF16, 1.00390625, 0x3f80},
  };
  for (const Row &row : rows)
    EXPECT_EQ(encodeFloat(row.kind, row.value), row.code)
        << getName(row.kind).str() << " " << row.value;
}

TEST(ElementType, EveryCodeComesBack) {
  for (unsigned k = unsigned(Kind::F4E2M1FN); k <= unsigned(Kind::F16); ++k) {
    Kind kind = Kind(k);
    for (uint64_t code = 0; code < uint64_t(1) << getBitWidth(kind); ++code) {
      double value = decodeFloat(kind, code);
      if (!std::isnan(value))
        ASSERT_EQ(encodeFloat(kind, value), code) << getName(kind).str();
      else
        ASSERT_TRUE(std::isnan(decodeFloat(kind, encodeFloat(kind, value))));
    }
  }
}

TEST(ElementType, WrapsIntegers) {
  Cell cell{};
  cell.i = 130;
  roundTo(Kind::S8, &cell, 1);
  EXPECT_EQ(cell.i, -126);
  cell.i = 9;
  roundTo(Kind::S4, &cell, 1);
  EXPECT_EQ(cell.i, -7);
  cell.i = -1;
  roundTo(Kind::U2, &cell, 1);
  EXPECT_EQ(cell.u, 3u);
}

TEST(ElementType, KeepsSmallSignedIntegersSignExtended) {
  Cell cell{};
  cell.i = -3;
  uint8_t byte = 0;
  store(Kind::S4, &cell, &byte, 1);
  EXPECT_EQ(byte, 0xfd);
  load(Kind::S4, &byte, &cell, 1);
  EXPECT_EQ(cell.i, -3);
}

TEST(ElementType, KeepsDenormals) {
  Cell cell{};
  cell.re = 1e-45;
  roundTo(Kind::F32, &cell, 1);
  EXPECT_EQ(cell.re, 0x1p-149);
}

TEST(ElementType, CountsRepresentableValues) {
  EXPECT_EQ(getUlpDistance(Kind::F32, 1, 1 + 0x1p-23), 1u);
  EXPECT_EQ(getUlpDistance(Kind::F32, -0x1p-149, 0x1p-149), 2u);
  EXPECT_EQ(getUlpDistance(Kind::F16, 0.0, -0.0), 0u);
  EXPECT_EQ(getUlpDistance(Kind::F64, inf, 1), std::nullopt);
}

} // namespace
