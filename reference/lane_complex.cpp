// Complex functions, in long double: no intermediate overflows, and for
// complex<f64> one rounding remains where the format is wider than double.
// Products alone are computed in the type itself, step by step, as everybody
// does: cancellation there is part of what programs expect.
#include "reference/lane_function.h"

#include "llvm/ADT/StringSwitch.h"

#include <cmath>
#include <complex>
#include <limits>

namespace alula::reference {
namespace {

using Real = long double;
using Complex = std::complex<long double>;

Complex get(const Cell &cell) { return {cell.re, cell.im}; }
void set(Cell &cell, Complex value) {
  cell.re = double(value.real());
  cell.im = double(value.imag());
}

template <auto compute>
void unary(const Cell *const *in, Cell *out, size_t n, const LaneInfo &) {
  for (size_t k = 0; k < n; ++k)
    set(out[k], compute(get(in[0][k])));
}

template <auto compute>
void binary(const Cell *const *in, Cell *out, size_t n, const LaneInfo &) {
  for (size_t k = 0; k < n; ++k)
    set(out[k], compute(get(in[0][k]), get(in[1][k])));
}

template <auto compute>
void toReal(const Cell *const *in, Cell *out, size_t n, const LaneInfo &) {
  for (size_t k = 0; k < n; ++k)
    out[k].re = double(compute(get(in[0][k])));
}

/// The textbook product: infinities give NaN parts, as in XLA and NumPy.
Complex multiply(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(),
          a.real() * b.imag() + a.imag() * b.real()};
}

Complex divide(Complex a, Complex b) {
  // C's rules: infinities and zero divisors keep their meaning.
  return a / b;
}

template <typename T>
void multiplyLanes(const Cell *const *in, Cell *out, size_t n,
                   const LaneInfo &) {
  for (size_t k = 0; k < n; ++k) {
    T a = T(in[0][k].re), b = T(in[0][k].im);
    T c = T(in[1][k].re), d = T(in[1][k].im);
    out[k].re = a * c - b * d;
    out[k].im = a * d + b * c;
  }
}

Real magnitude(Complex z) { return std::hypot(z.real(), z.imag()); }

Complex signOf(Complex z) {
  if (std::isnan(z.real()) || std::isnan(z.imag())) {
    Real nan = std::numeric_limits<Real>::quiet_NaN();
    return {nan, nan};
  }
  Real size = magnitude(z);
  if (size == 0)
    return z;
  return {z.real() / size, z.imag() / size};
}

/// Sums exactly split terms; error of about one unit in 2^120.
struct Sum {
  Real high = 0, low = 0;
  void add(Real x) {
    Real total = high + x;
    Real part = total - high;
    low += (high - (total - part)) + (x - part);
    high = total;
  }
  void addProduct(Real x, Real y) {
    Real product = x * y;
    add(product);
    add(std::fma(x, y, -product));
  }
  Real get() const { return high + low; }
};

Complex logPlusOne(Complex z) {
  Real x = z.real(), y = z.imag();
  Real angle = std::atan2(y, Real(1) + x);
  Real size = magnitude({Real(1) + x, y});
  if (!(size > Real(0.5) && size < Real(1.5)))
    return {std::log(size), angle};
  // |1+z|^2 - 1 = 2x + x^2 + y^2 cancels near the circle around -1.
  Sum sum;
  sum.add(2 * x);
  sum.addProduct(x, x);
  sum.addProduct(y, y);
  return {std::log1p(sum.get()) / 2, angle};
}

Complex logOf(Complex z) {
  Real x = z.real(), y = z.imag();
  Real angle = std::atan2(y, x);
  Real size = magnitude(z);
  if (!(size > Real(0.5) && size < Real(1.5)))
    return {std::log(size), angle};
  Sum sum;
  sum.addProduct(x, x);
  sum.addProduct(y, y);
  sum.add(-1);
  return {std::log1p(sum.get()) / 2, angle};
}

/// Angles without a direction leave NaN in both parts, also at -infinity and
/// infinity, where C has 0 and infinity.
Complex expOf(Complex z) {
  // A real argument keeps a zero imaginary part even where exp overflows.
  if (z.imag() == 0)
    return {std::exp(z.real()), z.imag()};
  if (!std::isfinite(z.imag())) {
    Real nan = std::numeric_limits<Real>::quiet_NaN();
    return {nan, nan};
  }
  return std::exp(z);
}

Complex expMinusOne(Complex z) {
  Real x = z.real(), y = z.imag();
  if (y == 0)
    return {std::expm1(x), y};
  Real grown = std::expm1(x);
  // Sums of split terms know no infinity.
  if (!std::isfinite(x) || !std::isfinite(grown) || !std::isfinite(y)) {
    Complex e = expOf(z);
    return {e.real() - 1, e.imag()};
  }
  Real half = std::sin(y / 2);
  Sum sum;
  sum.addProduct(grown, std::cos(y));
  sum.addProduct(-2 * half, half);
  return {sum.get(), std::exp(x) * std::sin(y)};
}

Complex rsqrtOf(Complex z) {
  Real x = z.real(), y = z.imag();
  if (x == 0 && y == 0)
    return {std::numeric_limits<Real>::infinity(), std::copysign(Real(0), -y)};
  if (std::isinf(x) || std::isinf(y)) {
    if (std::isnan(x) || std::isnan(y))
      return {0, 0};
    return {0, std::copysign(Real(0), -y)};
  }
  return Complex(1) / std::sqrt(z);
}

Complex cbrtOf(Complex z) {
  if (z.real() == 0 && z.imag() == 0)
    return z;
  Real size = std::cbrt(magnitude(z));
  Real angle = std::atan2(z.imag(), z.real()) / 3;
  if (angle == 0)
    return {size, angle};
  return {size * std::cos(angle), size * std::sin(angle)};
}

Complex logistic(Complex z) { return Complex(1) / (Complex(1) + expOf(-z)); }

Complex power(Complex a, Complex b) {
  if (b.real() == 0 && b.imag() == 0)
    return 1;
  if (a.real() == 0 && a.imag() == 0) {
    if (b.real() > 0)
      return 0;
    if (b.imag() == 0)
      return {std::numeric_limits<Real>::infinity(), 0};
    Real nan = std::numeric_limits<Real>::quiet_NaN();
    return {nan, nan};
  }
  return expOf(multiply(b, logOf(a)));
}

Complex atan2Of(Complex y, Complex x) {
  // -i log((x + iy) / sqrt(x^2 + y^2))
  Complex i(0, 1);
  Complex size = std::sqrt(multiply(x, x) + multiply(y, y));
  Complex angle = logOf((x + multiply(i, y)) / size);
  return {angle.imag(), -angle.real()};
}

/// C's `ctanh`, but not a number in both parts where the phase isn't finite and
/// the real part doesn't drown it, at a real part of zero too.
Complex tanhOf(Complex z) {
  if (!std::isfinite(z.imag()) && std::isfinite(z.real())) {
    Real nan = std::numeric_limits<Real>::quiet_NaN();
    return {nan, nan};
  }
  return std::tanh(z);
}

Complex tanOf(Complex z) {
  Complex turned = tanhOf({-z.imag(), z.real()});
  return {turned.imag(), -turned.real()};
}

bool isNan(Complex z) { return std::isnan(z.real()) || std::isnan(z.imag()); }

bool isLess(Complex a, Complex b) {
  return a.real() < b.real() || (a.real() == b.real() && a.imag() < b.imag());
}

/// Ordered by the real part, then the imaginary part; NaN wins.
Complex maximum(Complex a, Complex b) {
  if (isNan(a) || isNan(b))
    return isNan(a) ? a : b;
  return isLess(a, b) ? b : a;
}

Complex minimum(Complex a, Complex b) {
  if (isNan(a) || isNan(b))
    return isNan(a) ? a : b;
  return isLess(b, a) ? b : a;
}

void clamp(const Cell *const *in, Cell *out, size_t n, const LaneInfo &) {
  for (size_t k = 0; k < n; ++k)
    set(out[k], minimum(maximum(get(in[1][k]), get(in[0][k])), get(in[2][k])));
}

} // namespace

LaneFunction detail::findComplexFunction(llvm::StringRef op, Kind kind) {
  // clang-format off
  return llvm::StringSwitch<LaneFunction>(op)
      .Case("add", binary<[](Complex a, Complex b) { return a + b; }>)
      .Case("subtract", binary<[](Complex a, Complex b) { return a - b; }>)
      .Case("multiply", kind == Kind::C64 ? multiplyLanes<float>
                                          : multiplyLanes<double>)
      .Case("divide", binary<divide>)
      .Case("power", binary<power>)
      .Case("atan2", binary<atan2Of>)
      .Case("maximum", binary<maximum>)
      .Case("minimum", binary<minimum>)
      .Case("clamp", clamp)
      .Case("negate", unary<[](Complex z) { return -z; }>)
      .Case("sign", unary<signOf>)
      .Case("exponential", unary<expOf>)
      .Case("exponential_minus_one", unary<expMinusOne>)
      .Case("log", unary<logOf>)
      .Case("log_plus_one", unary<logPlusOne>)
      .Case("logistic", unary<logistic>)
      .Case("sqrt", unary<[](Complex z) { return std::sqrt(z); }>)
      .Case("rsqrt", unary<rsqrtOf>)
      .Case("cbrt", unary<cbrtOf>)
      .Case("sine", unary<[](Complex z) { return std::sin(z); }>)
      .Case("cosine", unary<[](Complex z) { return std::cos(z); }>)
      .Case("tan", unary<tanOf>)
      .Case("tanh", unary<tanhOf>)
      .Case("abs", toReal<magnitude>)
      .Case("real", toReal<[](Complex z) { return z.real(); }>)
      .Case("imag", toReal<[](Complex z) { return z.imag(); }>)
      .Default(nullptr);
  // clang-format on
}

} // namespace alula::reference
