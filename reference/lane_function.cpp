#include "reference/lane_function.h"

#include "llvm/ADT/StringSwitch.h"

#include <bit>
#include <cmath>

namespace alula::reference {
namespace {

template <auto compute>
void unaryFloat(const Cell *const *in, Cell *out, size_t n, const LaneInfo &) {
  for (size_t k = 0; k < n; ++k)
    out[k].re = compute(in[0][k].re);
}

template <auto compute>
void binaryFloat(const Cell *const *in, Cell *out, size_t n, const LaneInfo &) {
  for (size_t k = 0; k < n; ++k)
    out[k].re = compute(in[0][k].re, in[1][k].re);
}

template <auto compute>
void unaryBits(const Cell *const *in, Cell *out, size_t n,
               const LaneInfo &info) {
  unsigned bits = getBitWidth(info.from);
  for (size_t k = 0; k < n; ++k)
    out[k].u = compute(in[0][k].u, bits);
}

template <auto compute>
void binaryBits(const Cell *const *in, Cell *out, size_t n,
                const LaneInfo &info) {
  unsigned bits = getBitWidth(info.from);
  for (size_t k = 0; k < n; ++k)
    out[k].u = compute(in[0][k].u, in[1][k].u, bits);
}

template <auto compute>
void unarySigned(const Cell *const *in, Cell *out, size_t n, const LaneInfo &) {
  for (size_t k = 0; k < n; ++k)
    out[k].i = compute(in[0][k].i);
}

template <auto compute>
void binarySigned(const Cell *const *in, Cell *out, size_t n,
                  const LaneInfo &) {
  for (size_t k = 0; k < n; ++k)
    out[k].i = compute(in[0][k].i, in[1][k].i);
}

uint64_t lowBits(uint64_t value, unsigned bits) {
  return bits == 64 ? value : value & ((uint64_t(1) << bits) - 1);
}

void select(const Cell *const *in, Cell *out, size_t n, const LaneInfo &) {
  for (size_t k = 0; k < n; ++k)
    out[k] = in[0][k].u ? in[1][k] : in[2][k];
}

/// IEEE 754-2019 maximum and minimum: NaN wins, -0 is less than +0.
double maximum(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) ? a : b;
  if (a == b)
    return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

double minimum(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) ? a : b;
  if (a == b)
    return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

void clampFloat(const Cell *const *in, Cell *out, size_t n, const LaneInfo &) {
  for (size_t k = 0; k < n; ++k)
    out[k].re = minimum(maximum(in[1][k].re, in[0][k].re), in[2][k].re);
}

void clampSigned(const Cell *const *in, Cell *out, size_t n,
                 const LaneInfo &) {
  for (size_t k = 0; k < n; ++k)
    out[k].i = std::min(std::max(in[1][k].i, in[0][k].i), in[2][k].i);
}

void clampUnsigned(const Cell *const *in, Cell *out, size_t n,
                   const LaneInfo &) {
  for (size_t k = 0; k < n; ++k)
    out[k].u = std::min(std::max(in[1][k].u, in[0][k].u), in[2][k].u);
}

void isFinite(const Cell *const *in, Cell *out, size_t n, const LaneInfo &) {
  for (size_t k = 0; k < n; ++k)
    out[k].u = std::isfinite(in[0][k].re);
}

void makeComplex(const Cell *const *in, Cell *out, size_t n,
                 const LaneInfo &) {
  for (size_t k = 0; k < n; ++k) {
    double imaginary = in[1][k].re;
    out[k].re = in[0][k].re;
    out[k].im = imaginary;
  }
}

int64_t divideSigned(int64_t a, int64_t b) {
  if (b == 0)
    return -1;
  // INT_MIN / -1 wraps to INT_MIN.
  return b == -1 ? int64_t(0 - uint64_t(a)) : a / b;
}

int64_t remainderSigned(int64_t a, int64_t b) {
  if (b == 0)
    return a;
  return b == -1 ? 0 : a % b;
}

uint64_t powerOf(uint64_t base, uint64_t exponent) {
  uint64_t result = 1;
  for (; exponent != 0; exponent >>= 1, base *= base)
    if (exponent & 1)
      result *= base;
  return result;
}

int64_t powerSigned(int64_t base, int64_t exponent) {
  if (exponent >= 0)
    return int64_t(powerOf(uint64_t(base), uint64_t(exponent)));
  if (base == 1)
    return 1;
  if (base == -1)
    return exponent & 1 ? -1 : 1;
  // 1 / base^n, truncated; 1 / 0 as divide has it.
  return base == 0 ? -1 : 0;
}

double signOf(double x) {
  if (std::isnan(x) || x == 0)
    return x;
  return x < 0 ? -1 : 1;
}

/// Transcendentals: f64 in long double, everything smaller in double, so that
/// one rounding remains.
template <typename T> T logistic(T x) { return T(1) / (T(1) + std::exp(-x)); }

template <typename T> LaneFunction findTranscendental(llvm::StringRef op) {
  // clang-format off
  return llvm::StringSwitch<LaneFunction>(op)
      .Case("exponential", unaryFloat<[](double x) { return double(std::exp(T(x))); }>)
      .Case("exponential_minus_one", unaryFloat<[](double x) { return double(std::expm1(T(x))); }>)
      .Case("log", unaryFloat<[](double x) { return double(std::log(T(x))); }>)
      .Case("log_plus_one", unaryFloat<[](double x) { return double(std::log1p(T(x))); }>)
      .Case("logistic", unaryFloat<[](double x) { return double(logistic(T(x))); }>)
      .Case("sine", unaryFloat<[](double x) { return double(std::sin(T(x))); }>)
      .Case("cosine", unaryFloat<[](double x) { return double(std::cos(T(x))); }>)
      .Case("tan", unaryFloat<[](double x) { return double(std::tan(T(x))); }>)
      .Case("tanh", unaryFloat<[](double x) { return double(std::tanh(T(x))); }>)
      .Case("erf", unaryFloat<[](double x) { return double(std::erf(T(x))); }>)
      .Case("erfc", unaryFloat<[](double x) { return double(std::erfc(T(x))); }>)
      .Case("cbrt", unaryFloat<[](double x) { return double(std::cbrt(T(x))); }>)
      .Case("rsqrt", unaryFloat<[](double x) { return double(T(1) / std::sqrt(T(x))); }>)
      .Case("power", binaryFloat<[](double x, double y) { return double(std::pow(T(x), T(y))); }>)
      .Case("atan2", binaryFloat<[](double y, double x) { return double(std::atan2(T(y), T(x))); }>)
      .Default(nullptr);
  // clang-format on
}

uint64_t shiftRightLogical(uint64_t a, uint64_t amount, unsigned bits) {
  amount = lowBits(amount, bits);
  return amount >= bits ? 0 : lowBits(a, bits) >> amount;
}

uint64_t shiftRightArithmetic(uint64_t a, uint64_t amount, unsigned bits) {
  amount = lowBits(amount, bits);
  int64_t value = int64_t(a << (64 - bits)) >> (64 - bits);
  return uint64_t(value >> (amount >= bits ? bits - 1 : amount));
}

LaneFunction findFloat(llvm::StringRef op, Kind kind) {
  LaneFunction function =
      kind == Kind::F64 ? findTranscendental<long double>(op)
                        : findTranscendental<double>(op);
  if (function)
    return function;
  // clang-format off
  return llvm::StringSwitch<LaneFunction>(op)
      .Case("add", binaryFloat<[](double a, double b) { return a + b; }>)
      .Case("subtract", binaryFloat<[](double a, double b) { return a - b; }>)
      .Case("multiply", binaryFloat<[](double a, double b) { return a * b; }>)
      .Case("divide", binaryFloat<[](double a, double b) { return a / b; }>)
      .Case("remainder", binaryFloat<[](double a, double b) { return std::fmod(a, b); }>)
      .Case("maximum", binaryFloat<maximum>)
      .Case("minimum", binaryFloat<minimum>)
      .Case("abs", unaryFloat<[](double x) { return std::fabs(x); }>)
      .Case("negate", unaryFloat<[](double x) { return -x; }>)
      .Case("sqrt", unaryFloat<[](double x) { return std::sqrt(x); }>)
      .Case("ceil", unaryFloat<[](double x) { return std::ceil(x); }>)
      .Case("floor", unaryFloat<[](double x) { return std::floor(x); }>)
      .Case("round_nearest_afz", unaryFloat<[](double x) { return std::round(x); }>)
      .Case("round_nearest_even", unaryFloat<[](double x) { return std::nearbyint(x); }>)
      .Case("sign", unaryFloat<signOf>)
      .Case("real", unaryFloat<[](double x) { return x; }>)
      .Case("imag", unaryFloat<[](double) { return 0.0; }>)
      .Case("is_finite", isFinite)
      .Case("complex", makeComplex)
      .Case("clamp", clampFloat)
      .Default(nullptr);
  // clang-format on
}

LaneFunction findAnyInteger(llvm::StringRef op) {
  // Wrapping arithmetic and bit operations are the same for both signs.
  using U = uint64_t;
  // clang-format off
  return llvm::StringSwitch<LaneFunction>(op)
      .Case("add", binaryBits<[](U a, U b, unsigned) { return a + b; }>)
      .Case("subtract", binaryBits<[](U a, U b, unsigned) { return a - b; }>)
      .Case("multiply", binaryBits<[](U a, U b, unsigned) { return a * b; }>)
      .Case("negate", unaryBits<[](U a, unsigned) { return 0 - a; }>)
      .Case("and", binaryBits<[](U a, U b, unsigned) { return a & b; }>)
      .Case("or", binaryBits<[](U a, U b, unsigned) { return a | b; }>)
      .Case("xor", binaryBits<[](U a, U b, unsigned) { return a ^ b; }>)
      .Case("not", unaryBits<[](U a, unsigned) { return ~a; }>)
      .Case("popcnt", unaryBits<[](U a, unsigned bits) { return U(std::popcount(lowBits(a, bits))); }>)
      .Case("count_leading_zeros", unaryBits<[](U a, unsigned bits) {
        return U(std::countl_zero(lowBits(a, bits))) - (64 - bits); }>)
      // A negative amount is a large unsigned one: all bits leave.
      .Case("shift_left", binaryBits<[](U a, U b, unsigned bits) {
        return lowBits(b, bits) >= bits ? U(0) : a << b; }>)
      .Case("shift_right_logical", binaryBits<shiftRightLogical>)
      .Case("shift_right_arithmetic", binaryBits<shiftRightArithmetic>)
      .Default(nullptr);
  // clang-format on
}

LaneFunction findSigned(llvm::StringRef op) {
  using S = int64_t;
  // clang-format off
  return llvm::StringSwitch<LaneFunction>(op)
      .Case("divide", binarySigned<divideSigned>)
      .Case("remainder", binarySigned<remainderSigned>)
      .Case("power", binarySigned<powerSigned>)
      .Case("maximum", binarySigned<[](S a, S b) { return b < a ? a : b; }>)
      .Case("minimum", binarySigned<[](S a, S b) { return a < b ? a : b; }>)
      .Case("abs", unarySigned<[](S a) { return a < 0 ? S(0 - uint64_t(a)) : a; }>)
      .Case("sign", unarySigned<[](S a) { return S(a > 0) - S(a < 0); }>)
      .Case("clamp", clampSigned)
      .Default(nullptr);
  // clang-format on
}

LaneFunction findUnsigned(llvm::StringRef op) {
  using U = uint64_t;
  // clang-format off
  return llvm::StringSwitch<LaneFunction>(op)
      .Case("divide", binaryBits<[](U a, U b, unsigned) { return b == 0 ? ~U(0) : a / b; }>)
      .Case("remainder", binaryBits<[](U a, U b, unsigned) { return b == 0 ? a : a % b; }>)
      .Case("power", binaryBits<[](U a, U b, unsigned) { return powerOf(a, b); }>)
      .Case("maximum", binaryBits<[](U a, U b, unsigned) { return b < a ? a : b; }>)
      .Case("minimum", binaryBits<[](U a, U b, unsigned) { return a < b ? a : b; }>)
      .Case("abs", unaryBits<[](U a, unsigned) { return a; }>)
      .Case("sign", unaryBits<[](U a, unsigned) { return U(a != 0); }>)
      .Case("clamp", clampUnsigned)
      .Default(nullptr);
  // clang-format on
}

LaneFunction findBool(llvm::StringRef op) {
  using U = uint64_t;
  // i1 is the two-element Boolean algebra, not arithmetic modulo two.
  // clang-format off
  return llvm::StringSwitch<LaneFunction>(op)
      .Cases("add", "or", "maximum", binaryBits<[](U a, U b, unsigned) { return a | b; }>)
      .Cases("multiply", "and", "minimum", binaryBits<[](U a, U b, unsigned) { return a & b; }>)
      .Case("xor", binaryBits<[](U a, U b, unsigned) { return a ^ b; }>)
      .Case("not", unaryBits<[](U a, unsigned) { return a ^ 1; }>)
      .Case("popcnt", unaryBits<[](U a, unsigned) { return a; }>)
      .Case("count_leading_zeros", unaryBits<[](U a, unsigned) { return a ^ 1; }>)
      .Case("clamp", clampUnsigned)
      .Default(nullptr);
  // clang-format on
}

/// -1, 0, 1, or 2 when unordered.
int order(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return 2;
  return a < b ? -1 : a > b;
}

struct OrderFloat {
  int operator()(const Cell &a, const Cell &b) const {
    return order(a.re, b.re);
  }
};

struct OrderTotal {
  static int64_t rank(double x) {
    int64_t bits = std::bit_cast<int64_t>(x);
    return bits < 0 ? bits ^ INT64_MAX : bits;
  }
  int operator()(const Cell &a, const Cell &b) const {
    int64_t x = rank(a.re), y = rank(b.re);
    return x < y ? -1 : x > y;
  }
};

struct OrderSigned {
  int operator()(const Cell &a, const Cell &b) const {
    return a.i < b.i ? -1 : a.i > b.i;
  }
};

struct OrderUnsigned {
  int operator()(const Cell &a, const Cell &b) const {
    return a.u < b.u ? -1 : a.u > b.u;
  }
};

/// By the real part, then by the imaginary part.
struct OrderComplex {
  int operator()(const Cell &a, const Cell &b) const {
    int real = order(a.re, b.re);
    int imaginary = order(a.im, b.im);
    if (real == 2 || imaginary == 2)
      return 2;
    return real != 0 ? real : imaginary;
  }
};

template <typename Order, Direction direction>
void compare(const Cell *const *in, Cell *out, size_t n, const LaneInfo &) {
  Order relate;
  for (size_t k = 0; k < n; ++k) {
    int relation = relate(in[0][k], in[1][k]);
    bool holds = false;
    switch (direction) {
    case Direction::EQ:
      holds = relation == 0;
      break;
    case Direction::NE:
      holds = relation != 0;
      break;
    case Direction::GE:
      holds = relation == 0 || relation == 1;
      break;
    case Direction::GT:
      holds = relation == 1;
      break;
    case Direction::LE:
      holds = relation == 0 || relation == -1;
      break;
    case Direction::LT:
      holds = relation == -1;
      break;
    }
    out[k].u = holds;
  }
}

template <typename Order> LaneFunction pickCompare(Direction direction) {
  switch (direction) {
  case Direction::EQ:
    return compare<Order, Direction::EQ>;
  case Direction::NE:
    return compare<Order, Direction::NE>;
  case Direction::GE:
    return compare<Order, Direction::GE>;
  case Direction::GT:
    return compare<Order, Direction::GT>;
  case Direction::LE:
    return compare<Order, Direction::LE>;
  case Direction::LT:
    return compare<Order, Direction::LT>;
  }
  return nullptr;
}

double reducePrecision(double x, Kind kind, int exponentBits,
                       int mantissaBits) {
  // Without mantissa bits there is no NaN.
  if (std::isnan(x) && mantissaBits == 0)
    return std::copysign(HUGE_VAL, x);
  if (!std::isfinite(x) || x == 0)
    return x;
  FloatFormat format = getFloatFormat(kind);
  if (mantissaBits < format.mantissaBits) {
    // A denormal of the kind has its mantissa cut at the same weight as the
    // smallest normal number. Scaling by a power of two is exact.
    int exponent = std::max(std::ilogb(x), 1 - format.bias);
    double unit = std::ldexp(1.0, exponent - mantissaBits);
    x = std::copysign(std::nearbyint(x / unit) * unit, x);
  }
  if (x == 0 || std::isinf(x))
    return x;
  int bias = (1 << (exponentBits - 1)) - 1;
  int exponent = std::ilogb(x);
  if (exponent > bias)
    return std::copysign(HUGE_VAL, x);
  // An exponent field as wide as the kind's own keeps its denormals.
  if (exponent < 1 - bias && exponentBits < format.exponentBits)
    return std::copysign(0.0, x);
  return x;
}

void reducePrecisionLanes(const Cell *const *in, Cell *out, size_t n,
                          const LaneInfo &info) {
  for (size_t k = 0; k < n; ++k)
    out[k].re = reducePrecision(in[0][k].re, info.from, int(info.first),
                                int(info.second));
}

void bitcastLanes(const Cell *const *in, Cell *out, size_t n,
                  const LaneInfo &info) {
  uint8_t bytes[16];
  for (size_t k = 0; k < n; ++k) {
    store(info.from, &in[0][k], bytes, 1);
    load(info.to, bytes, &out[k], 1);
  }
}

} // namespace

LaneFunction findLaneFunction(llvm::StringRef op, Kind kind) {
  if (op == "select")
    return select;
  switch (getDomain(kind)) {
  case Domain::Bool:
    return findBool(op);
  case Domain::Signed:
    if (LaneFunction function = findAnyInteger(op))
      return function;
    return findSigned(op);
  case Domain::Unsigned:
    if (LaneFunction function = findAnyInteger(op))
      return function;
    return findUnsigned(op);
  case Domain::Float:
    return findFloat(op, kind);
  case Domain::Complex:
    return detail::findComplexFunction(op, kind);
  }
  return nullptr;
}

LaneFunction findCompare(Direction direction, Kind kind, bool totalOrder) {
  switch (getDomain(kind)) {
  case Domain::Bool:
  case Domain::Unsigned:
    return pickCompare<OrderUnsigned>(direction);
  case Domain::Signed:
    return pickCompare<OrderSigned>(direction);
  case Domain::Float:
    return totalOrder ? pickCompare<OrderTotal>(direction)
                      : pickCompare<OrderFloat>(direction);
  case Domain::Complex:
    return pickCompare<OrderComplex>(direction);
  }
  return nullptr;
}

LaneFunction getReducePrecision() { return reducePrecisionLanes; }
LaneFunction getBitcast() { return bitcastLanes; }

} // namespace alula::reference
