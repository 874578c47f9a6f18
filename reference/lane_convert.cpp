// convert between any two kinds.
#include "reference/lane_function.h"

#include <cmath>

namespace alula::reference {
namespace {

void copy(const Cell *const *in, Cell *out, size_t n, const LaneInfo &) {
  for (size_t k = 0; k < n; ++k)
    out[k] = in[0][k];
}

void realToComplex(const Cell *const *in, Cell *out, size_t n,
                   const LaneInfo &) {
  for (size_t k = 0; k < n; ++k) {
    out[k].re = in[0][k].re;
    out[k].im = 0;
  }
}

/// An integer as a double that rounds to any narrower float as the integer
/// itself would: bits that a double cannot hold are folded into its last bit
/// (round to odd).
double foldUnsigned(uint64_t value) {
  if (value >> 53) {
    // Twelve bits are enough for all 64-bit values and leave 52 to keep.
    uint64_t lost = value & 0xfff;
    value &= ~uint64_t(0xfff);
    if (lost)
      value |= 0x1000;
  }
  return double(value);
}

double foldSigned(int64_t value) {
  return value < 0 ? -foldUnsigned(0 - uint64_t(value))
                   : foldUnsigned(uint64_t(value));
}

template <bool isSigned>
void integerToFloat(const Cell *const *in, Cell *out, size_t n,
                    const LaneInfo &info) {
  bool wide = getRealKind(info.to) == Kind::F64;
  for (size_t k = 0; k < n; ++k) {
    if constexpr (isSigned)
      out[k].re = wide ? double(in[0][k].i) : foldSigned(in[0][k].i);
    else
      out[k].re = wide ? double(in[0][k].u) : foldUnsigned(in[0][k].u);
    out[k].im = 0;
  }
}

/// Truncates; what does not fit goes to the nearest limit and NaN to zero. The
/// specification leaves both open; XLA does this.
void floatToSigned(const Cell *const *in, Cell *out, size_t n,
                   const LaneInfo &info) {
  unsigned bits = getBitWidth(info.to);
  double limit = std::ldexp(1.0, int(bits) - 1);
  int64_t largest = int64_t((uint64_t(1) << (bits - 1)) - 1);
  for (size_t k = 0; k < n; ++k) {
    double x = in[0][k].re;
    if (std::isnan(x))
      out[k].i = 0;
    else if (x >= limit)
      out[k].i = largest;
    else if (x <= -limit)
      out[k].i = -largest - 1;
    else
      out[k].i = int64_t(x);
  }
}

void floatToUnsigned(const Cell *const *in, Cell *out, size_t n,
                     const LaneInfo &info) {
  unsigned bits = getBitWidth(info.to);
  double limit = std::ldexp(1.0, int(bits));
  uint64_t largest =
      bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
  for (size_t k = 0; k < n; ++k) {
    double x = in[0][k].re;
    if (!(x > 0))
      out[k].u = 0;
    else if (x >= limit)
      out[k].u = largest;
    else
      out[k].u = uint64_t(x);
  }
}

void integerToBool(const Cell *const *in, Cell *out, size_t n,
                   const LaneInfo &) {
  for (size_t k = 0; k < n; ++k)
    out[k].u = in[0][k].u != 0;
}

void floatToBool(const Cell *const *in, Cell *out, size_t n,
                 const LaneInfo &) {
  for (size_t k = 0; k < n; ++k)
    out[k].u = in[0][k].re != 0;
}

} // namespace

LaneFunction findConvert(Kind from, Kind to) {
  Domain source = getDomain(from), target = getDomain(to);
  bool fromFloat = source == Domain::Float || source == Domain::Complex;
  switch (target) {
  case Domain::Bool:
    return fromFloat ? floatToBool : integerToBool;
  case Domain::Signed:
    return fromFloat ? floatToSigned : copy;
  case Domain::Unsigned:
    return fromFloat ? floatToUnsigned : copy;
  case Domain::Float:
  case Domain::Complex:
    if (source == Domain::Float && target == Domain::Complex)
      return realToComplex;
    // A complex number gives its real part.
    if (fromFloat)
      return copy;
    return source == Domain::Signed ? integerToFloat<true>
                                    : integerToFloat<false>;
  }
  return nullptr;
}

} // namespace alula::reference
