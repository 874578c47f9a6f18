#include "tools/values/text.h"

#include <gtest/gtest.h>

#include <cstdio>

using namespace alula::values;

namespace {

/// Parses "type=elements" and prints it again, or returns the error.
std::string roundTrip(std::string_view type, std::string_view elements) {
  alula_dtype dtype;
  std::vector<int64_t> shape;
  Value value;
  std::string error;
  if (!parseType(type, dtype, shape, error) ||
      !createValue(dtype, shape, value, error) ||
      !parseElements(elements, value, error))
    return error;
  return printValue(value);
}

TEST(Text, Shapes) {
  EXPECT_EQ(roundTrip("f32", "1.5"), "f32=1.5");
  EXPECT_EQ(roundTrip("3xi32", "1,-2,3"), "3xi32=1,-2,3");
  EXPECT_EQ(roundTrip("2x3xf32", "1 2 3\n4 5 6"), "2x3xf32=[[1,2,3],[4,5,6]]");
  EXPECT_EQ(roundTrip("2x3xf32", "[[1,2,3],[4,5,6]]"),
            "2x3xf32=[[1,2,3],[4,5,6]]");
  EXPECT_EQ(roundTrip("4xui8", "7"), "4xui8=7,7,7,7");
  EXPECT_EQ(roundTrip("0x3xf32", ""), "0x3xf32=");
  EXPECT_EQ(roundTrip("1152921504606846976x0xf32", ""),
            "1152921504606846976x0xf32=");
  EXPECT_EQ(roundTrip("2xcomplex<f32>", "(1,-2),3+4.5j"),
            "2xcomplex<f32>=(1,-2),(3,4.5)");
  EXPECT_EQ(roundTrip("3xcomplex<f64>", "1e-3-2e+5j,2j,7"),
            "3xcomplex<f64>=(0.001,-2e+05),(0,2),(7,0)");
}

TEST(Text, Elements) {
  EXPECT_EQ(roundTrip("3xi1", "true,0,1"), "3xi1=true,false,true");
  EXPECT_EQ(roundTrip("2xi4", "-8,7"), "2xi4=-8,7");
  EXPECT_EQ(roundTrip("2xui2", "0,3"), "2xui2=0,3");
  EXPECT_EQ(roundTrip("2xi64", "-9223372036854775808,0x7fffffffffffffff"),
            "2xi64=-9223372036854775808,9223372036854775807");
  EXPECT_EQ(roundTrip("ui64", "18446744073709551615"),
            "ui64=18446744073709551615");
  EXPECT_EQ(roundTrip("5xf32", "inf,-inf,nan,-nan,0x7fc00001"),
            "5xf32=inf,-inf,nan,-nan,0x7fc00001");
  EXPECT_EQ(roundTrip("2xf32", "0.1,1e-45"), "2xf32=0.1,1e-45");
  EXPECT_EQ(roundTrip("2xf64", "0.1,-0"), "2xf64=0.1,-0");
  EXPECT_EQ(roundTrip("3xbf16", "0.1,3.14159,1e39"), "3xbf16=0.1,3.14,inf");
  EXPECT_EQ(roundTrip("2xf8E4M3FN", "0.3,1000"), "2xf8E4M3FN=0.3,nan");
  EXPECT_EQ(roundTrip("2xf4E2M1FN", "0.3,1000"), "2xf4E2M1FN=0.5,6");
  EXPECT_EQ(roundTrip("f32", "1e-400"), "f32=0");
  EXPECT_EQ(roundTrip("f32", "1e400"), "f32=inf");
}

TEST(Text, Errors) {
  EXPECT_EQ(roundTrip("2x3xf33", "1"),
            "'2x3xf33': unknown element type 'f33'");
  EXPECT_EQ(roundTrip("2f32", "1"), "'2f32': expected 'x' after a dimension");
  EXPECT_EQ(roundTrip("99999999999999999999xf32", "1"),
            "'99999999999999999999xf32': dimension too large");
  EXPECT_EQ(roundTrip("1152921504606846976xf32", "1"),
            "1152921504606846976xf32: more bytes than this machine's memory");
  EXPECT_EQ(roundTrip("4294967296x4294967296xf32", "1"),
            "4294967296x4294967296xf32: more bytes than this machine's memory");
  EXPECT_EQ(roundTrip("2xtoken", ""), "'2xtoken': a token has no shape");
  EXPECT_EQ(roundTrip("2x3xf32", "1,2"),
            "2x3xf32: has 6 elements, but 2 values are given");
  EXPECT_EQ(roundTrip("2xf32", "1,2,3"),
            "2xf32: has 2 elements, but 3 values are given");
  EXPECT_EQ(roundTrip("2xf32", "1,b"), "2xf32: 'b' is not a value of f32");
  EXPECT_EQ(roundTrip("i8", "128"), "i8: '128' is not a value of i8");
  EXPECT_EQ(roundTrip("ui4", "-1"), "ui4: '-1' is not a value of ui4");
  EXPECT_EQ(roundTrip("i1", "2"), "i1: '2' is not a value of i1");
  EXPECT_EQ(roundTrip("f16", "0x12345"), "f16: '0x12345' is not a value of f16");
  EXPECT_EQ(roundTrip("2xf32", "[1,2"), "2xf32: brackets do not match");
  EXPECT_EQ(roundTrip("2xf32", "1,2]"), "2xf32: brackets do not match");
  EXPECT_EQ(roundTrip("complex<f32>", "(1,2"),
            "complex<f32>: '(1,2' is not a value of complex<f32>");
}

TEST(Text, PrintedSmallFloatsParseToTheSameBits) {
  for (uint32_t type = 1; type <= ALULA_DTYPE_LAST; ++type) {
    uint32_t bits = alula_dtype_get_bits(type);
    if (alula_dtype_get_kind(type) != ALULA_KIND_FLOAT || bits > 16)
      continue;
    uint32_t bytes = alula_dtype_get_bytes(type);
    Value value;
    std::string error;
    ASSERT_TRUE(createValue(alula_dtype(type), {}, value, error));
    for (uint32_t code = 0; code < 1u << bits; ++code) {
      std::string text =
          printElement(alula_dtype(type), reinterpret_cast<uint8_t *>(&code));
      ASSERT_TRUE(parseElements(text, value, error)) << error;
      ASSERT_EQ(memcmp(value.data.get(), &code, bytes), 0)
          << alula_dtype_get_name(type) << ' ' << text;
    }
  }
}

} // namespace
