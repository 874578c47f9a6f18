// Every code of every small float against ml_dtypes, and rounding of probes.

#include "tools/values/float_codes.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

using namespace alula::values;

namespace {

struct Decode {
  alula_dtype type;
  std::vector<uint64_t> values;
};
struct Encode {
  alula_dtype type;
  uint64_t number, code;
};

const Decode decodes[] = {
#define D(TYPE, ...) {ALULA_DTYPE_##TYPE, {__VA_ARGS__}},
#define E(TYPE, number, code)
#include "tools/values/float_codes_data.inc"
#undef D
#undef E
};
const Encode encodes[] = {
#define D(TYPE, ...)
#define E(TYPE, number, code) {ALULA_DTYPE_##TYPE, number, code},
#include "tools/values/float_codes_data.inc"
#undef D
#undef E
};

TEST(FloatCodes, DecodesEveryCodeAsMlDtypes) {
  for (const Decode &decode : decodes)
    for (size_t code = 0; code < decode.values.size(); ++code) {
      double expected = std::bit_cast<double>(decode.values[code]);
      double actual = decodeFloat(decode.type, code);
      if (std::isnan(expected))
        EXPECT_TRUE(std::isnan(actual))
            << alula_dtype_get_name(decode.type) << ' ' << code;
      else
        EXPECT_EQ(std::bit_cast<uint64_t>(actual), decode.values[code])
            << alula_dtype_get_name(decode.type) << ' ' << code;
    }
}

TEST(FloatCodes, EncodesProbesAsMlDtypes) {
  for (const Encode &encode : encodes)
    EXPECT_EQ(encodeFloat(encode.type, std::bit_cast<double>(encode.number)),
              encode.code)
        << alula_dtype_get_name(encode.type) << ' '
        << std::bit_cast<double>(encode.number);
}

TEST(FloatCodes, NumbersRoundTrip) {
  for (uint32_t type = 1; type <= ALULA_DTYPE_LAST; ++type) {
    alula_float_format format;
    uint32_t bits = alula_dtype_get_bits(type);
    if (!alula_dtype_get_float_format(type, &format) || bits > 16)
      continue;
    for (uint64_t code = 0; code < uint64_t(1) << bits; ++code) {
      double number = decodeFloat(alula_dtype(type), code);
      if (!std::isnan(number)) {
        ASSERT_EQ(encodeFloat(alula_dtype(type), number), code)
            << alula_dtype_get_name(type);
      }
    }
  }
}

} // namespace
