#include "tools/values/compare.h"

#include "tools/values/float_codes.h"
#include "tools/values/text.h"

#include <algorithm>
#include <cmath>

namespace alula::values {
namespace {

/// About three quarters of the type's digits: room for another order of
/// summation, none for a wrong algorithm.
double getDefaultTolerance(alula_dtype part) {
  alula_float_format format;
  if (!alula_dtype_get_float_format(part, &format))
    return 0;
  if (format.mantissa_bits < 7)
    return std::ldexp(1.0, -int(format.mantissa_bits));
  return std::ldexp(1.0, -int(format.mantissa_bits) * 3 / 4);
}

struct PartComparer {
  alula_dtype type;
  double relative, absolute;

  bool operator()(const uint8_t *expected, const uint8_t *actual) const {
    size_t bytes = alula_dtype_get_bytes(type);
    if (memcmp(expected, actual, bytes) == 0)
      return true;
    if (alula_dtype_get_kind(type) != ALULA_KIND_FLOAT)
      return false;
    uint64_t bits[2] = {0, 0};
    memcpy(&bits[0], expected, bytes);
    memcpy(&bits[1], actual, bytes);
    double a = decodeFloat(type, bits[0]), b = decodeFloat(type, bits[1]);
    if (std::isnan(a) || std::isnan(b))
      return std::isnan(a) && std::isnan(b);
    if (std::isinf(a) || std::isinf(b))
      return a == b;
    return std::fabs(a - b) <= absolute + relative * std::fabs(a);
  }
};

std::string printIndex(const Value &value, int64_t element) {
  std::string text;
  for (size_t i = value.shape.size(); i-- > 0;) {
    text = std::to_string(element % value.shape[i]) +
           (text.empty() ? "" : ",") + text;
    element /= value.shape[i];
  }
  return "[" + text + "]";
}

/// Of all parts that are numbers; at least 1.
double findLargest(const Value &value, alula_dtype part) {
  size_t bytes = alula_dtype_get_bytes(part);
  double largest = 1;
  if (alula_dtype_get_kind(part) != ALULA_KIND_FLOAT)
    return largest;
  for (size_t at = 0; bytes && at + bytes <= value.size; at += bytes) {
    uint64_t bits = 0;
    memcpy(&bits, value.data.get() + at, bytes);
    double number = std::fabs(decodeFloat(part, bits));
    if (std::isfinite(number))
      largest = std::max(largest, number);
  }
  return largest;
}

} // namespace

bool compareValues(const Value &expected, const Value &actual,
                   const Tolerance &tolerance, std::string &error) {
  if (expected.type != actual.type || expected.shape != actual.shape) {
    error = "expected a value of type " +
            printType(expected.type, expected.shape) + ", got " +
            printType(actual.type, actual.shape);
    return false;
  }
  bool isComplex = alula_dtype_get_kind(expected.type) == ALULA_KIND_COMPLEX;
  alula_dtype part = expected.type;
  if (isComplex)
    part = part == ALULA_DTYPE_C64 ? ALULA_DTYPE_F32 : ALULA_DTYPE_F64;
  double byType = getDefaultTolerance(part);
  PartComparer equal{part,
                     tolerance.relative < 0 ? byType : tolerance.relative,
                     tolerance.absolute < 0 ? byType : tolerance.absolute};
  if (tolerance.growsWithLargest)
    equal.absolute *= findLargest(expected, part);
  size_t bytes = alula_dtype_get_bytes(expected.type);
  int64_t count = bytes ? int64_t(expected.size / bytes) : 0;
  int64_t first = -1, wrong = 0;
  for (int64_t i = 0; i < count; ++i) {
    const uint8_t *a = expected.data.get() + size_t(i) * bytes;
    const uint8_t *b = actual.data.get() + size_t(i) * bytes;
    bool same = equal(a, b) &&
                (!isComplex || equal(a + bytes / 2, b + bytes / 2));
    if (!same && wrong++ == 0)
      first = i;
  }
  if (wrong == 0)
    return true;
  size_t at = size_t(first) * bytes;
  error = "at index " + printIndex(expected, first) + ": expected " +
          printElement(expected.type, expected.data.get() + at) + ", got " +
          printElement(actual.type, actual.data.get() + at) + " (" +
          std::to_string(wrong) + " of " + std::to_string(count) +
          " elements differ)";
  return false;
}

} // namespace alula::values
