// Real inverse trigonometric, hyperbolic and inverse hyperbolic functions,
// the complex hyperbolic ones, squares.
//
// Each formula keeps relative accuracy at both ends: no 1 - x^2 where the
// factors are at hand, log1p and expm1 near 0, halved exponents where exp(x)
// overflows and the result doesn't. Odd functions keep the sign of zero.

#include "compiler/input/special_functions.h"

#include <cmath>
#include <numbers>

using namespace alula::input;
using std::numbers::ln2;

namespace {
/// Just below the logarithm of the largest number.
double maxExponent(Num x) { return x.isF64() ? 709.0 : 88.0; }

/// Where x + 1 and x are the same in logarithms and square roots.
double farPoint(Num x) { return 2.0 / std::sqrt(epsilon(x.element())); }

/// cosh or sinh of x >= 0, times `factor`, where only the product is sure not
/// to overflow.
Num buildFarProduct(Num x, Num factor) {
  Num half = exp(0.5 * x);
  return 0.5 * half * factor * half;
}
} // namespace

Num alula::input::buildAcos(Num x) {
  return 2.0 * atan2(sqrt(1.0 - x), sqrt(1.0 + x));
}

Num alula::input::buildAsin(Num x) {
  return atan2(x, sqrt((1.0 - x) * (1.0 + x)));
}

Num alula::input::buildAtan(Num x) {
  return atan2(x, x.math->constant(x.element(), 1.0));
}

Num alula::input::buildAcosh(Num x) {
  Num above = x - 1.0;
  Num near = log1p(above + sqrt(above * (above + 2.0)));
  Num result = select(x > farPoint(x), log(x) + ln2, near);
  return select(x < 1.0, NAN, result);
}

Num alula::input::buildAsinh(Num x) {
  Num magnitude = abs(x);
  Num square = magnitude * magnitude;
  Num near = log1p(magnitude + square / (1.0 + sqrt(square + 1.0)));
  Num far = log(magnitude) + ln2;
  return sign(x) * select(magnitude > farPoint(x), far, near);
}

Num alula::input::buildAtanh(Num x) { return 0.5 * (log1p(x) - log1p(-x)); }

Num alula::input::buildCosh(Num x) {
  Num magnitude = abs(x);
  Num power = exp(magnitude);
  Num near = 0.5 * power + 0.5 / power;
  Num one = x.math->constant(x.element(), 1.0);
  return select(magnitude > maxExponent(x), buildFarProduct(magnitude, one),
                near);
}

Num alula::input::buildSinh(Num x) {
  Num magnitude = abs(x);
  Num less = expm1(magnitude);
  Num near = 0.5 * (less + less / (less + 1.0));
  Num power = exp(magnitude);
  Num middle = 0.5 * power - 0.5 / power;
  Num one = x.math->constant(x.element(), 1.0);
  Num far = select(magnitude > maxExponent(x), buildFarProduct(magnitude, one),
                   middle);
  return sign(x) * select(magnitude < 1.0, near, far);
}

Num alula::input::buildSquare(Num x) { return x * x; }

Num alula::input::buildComplexCosh(Num z) {
  Num x = real(z), y = imag(z);
  Num magnitude = abs(x);
  Num cosine = cos(y), sine = sin(y);
  Num isFar = magnitude > maxExponent(x);
  Num re = select(isFar, buildFarProduct(magnitude, cosine),
                  buildCosh(x) * cosine);
  Num im = select(isFar, sign(x) * buildFarProduct(magnitude, sine),
                  buildSinh(x) * sine);
  // Real arguments have real results, also at infinity; so have, by sine,
  // those on the imaginary axis.
  return complex(re, select((y == 0.0) | (x == 0.0), sign(x) * sine, im));
}

Num alula::input::buildComplexSinh(Num z) {
  Num x = real(z), y = imag(z);
  Num magnitude = abs(x);
  Num cosine = cos(y), sine = sin(y);
  Num isFar = magnitude > maxExponent(x);
  Num re = select(isFar, sign(x) * buildFarProduct(magnitude, cosine),
                  buildSinh(x) * cosine);
  Num im = select(isFar, buildFarProduct(magnitude, sine),
                  buildCosh(x) * sine);
  return complex(select(x == 0.0, x, re), select(y == 0.0, y, im));
}

Num alula::input::buildComplexSquare(Num z) {
  Num x = real(z), y = imag(z);
  // Of equal parts the difference is 0, which times infinity would be NaN,
  // as it is where the parts are infinite.
  Num re = select((abs(x) == abs(y)) & isFinite(x), 0.0, (x - y) * (x + y));
  return complex(re, 2.0 * (x * y));
}
