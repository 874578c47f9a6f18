// Inverse trigonometric and hyperbolic functions of complex numbers.
//
// asin and its kin: T. Hull, T. Fairgrieve, P. Tang, "Implementing the complex
// arcsine and arccosine functions using exception handling", ACM TOMS 23
// (1997), with selections in the place of exceptions. Branch cuts follow the
// sign of zero, as in C.

#include "compiler/input/special_functions.h"

#include <cmath>
#include <numbers>

using namespace mlir;
using namespace alula::input;
using std::numbers::ln2;
using std::numbers::pi;

namespace {
/// True for -0 and for what is below.
Num isNegative(Num x) {
  Type bits = x.math->builder.getIntegerType(x.isF64() ? 64 : 32);
  return bitcast(x, bits) < 0.0;
}

Num copySign(Num magnitude, Num source) {
  return select(isNegative(source), -magnitude, magnitude);
}

/// sqrt(a^2 + b^2) of numbers >= 0 without overflow or underflow between.
Num buildHypot(Num a, Num b) {
  Num longer = max(a, b), shorter = min(a, b);
  Num ratio = select(longer == 0.0, 0.0, shorter / longer);
  return longer * sqrt(1.0 + ratio * ratio);
}

struct Kernel {
  Num re, im;
};

/// For x, y >= 0: re = sqrt(a^2 - x^2) and im = acosh(a), where a is half the
/// sum of the distances of x + iy from -1 and 1.
Kernel buildKernel(Num x, Num y) {
  Type element = x.element();
  Num right = x + 1.0, left = abs(x - 1.0);
  Num r = buildHypot(right, y), s = buildHypot(left, y);
  Num a = 0.5 * (r + s);
  // r - (x + 1) = y^2 / (r + x + 1), and the same of s on the side of 1 where
  // subtracting would cancel.
  Num rSum = r + right, sSum = s + left;
  Num rGap = y * (y / rSum), sGap = y * (y / sSum);
  // Where a gap is all there is, y comes out of the root, so that y^2 can't
  // underflow.
  Num shared = 0.5 * (1.0 / rSum + 1.0 / sSum);

  // At 1 they add up to a y that may be subnormal: half of it is not there.
  Num gaps = rGap + sSum;
  Num re = select(x <= 1.0, sqrt((0.5 * (a + x)) * gaps),
                  y * sqrt((a + x) * shared));
  Num aboveOne = 0.5 * (rGap + sGap);
  Num im = select(x < 1.0, log1p(aboveOne + y * sqrt((a + 1.0) * shared)),
                  log1p(0.5 * gaps + sqrt((0.5 * (a + 1.0)) * gaps)));

  // Far out 1 is nothing, and squares would overflow.
  Num longer = max(x, y), shorter = min(x, y);
  Num ratio = select(longer == shorter, 1.0, shorter / longer);
  Num farIm = (log(longer) + ln2) + 0.5 * log1p(ratio * ratio);
  Num isFar = longer > std::sqrt(largest(element)) / 8;
  return {select(isFar, y, re), select(isFar, farIm, im)};
}

/// atanh of x + iy: real and imaginary part.
Kernel buildAtanhParts(Num x, Num y) {
  Type element = x.element();
  Num ax = abs(x), ay = abs(y);
  Num gap = 1.0 - ax;
  Num distance = gap * gap + y * y;
  Num near = 0.25 * log1p(4.0 * ax / distance);
  // At 1 the square of a small y would underflow.
  double tiny = std::sqrt(smallestNormal(element)) * 0x1p12;
  Num atPole = 0.5 * (ln2 - log(ay));
  Num re = select((ax == 1.0) & (ay < tiny), atPole, near);
  Num im = 0.5 * atan2(2.0 * y, gap * (1.0 + ax) - y * y);

  Num longer = max(ax, ay), shorter = min(ax, ay);
  Num ratio = shorter / longer;
  // x / |z|^2. The share of x is selected, not divided: a compiler may turn
  // (a / b) / c into a / (b * c), which overflows.
  Num share = select(ay <= ax, 1.0, ratio);
  Num farRe = select(isFinite(longer),
                     share / longer / (1.0 + ratio * ratio), 0.0);
  Num isFar = longer > std::sqrt(largest(element)) / 8;
  Num farIm = copySign(x.math->constant(element, pi / 2), y);
  Num isNan = (x != x) | (y != y);
  return {copySign(select(isFar, farRe, re), x),
          select(isFar & ~isNan, farIm, im)};
}
} // namespace

Num alula::input::buildAsinAcosKernel(Num z) {
  Kernel w = buildKernel(abs(real(z)), abs(imag(z)));
  return complex(w.re, w.im);
}

Num alula::input::buildComplexAsin(Num z) {
  Num x = real(z), y = imag(z);
  Kernel w = buildKernel(abs(x), abs(y));
  return complex(atan2(x, w.re), copySign(w.im, y));
}

Num alula::input::buildComplexAcos(Num z) {
  Num x = real(z), y = imag(z);
  Kernel w = buildKernel(abs(x), abs(y));
  return complex(atan2(w.re, x), copySign(w.im, -y));
}

Num alula::input::buildComplexAsinh(Num z) {
  // asinh(z) = -i asin(iz)
  Num x = real(z), y = imag(z);
  Kernel w = buildKernel(abs(y), abs(x));
  return complex(copySign(w.im, x), atan2(y, w.re));
}

Num alula::input::buildComplexAcosh(Num z) {
  Num x = real(z), y = imag(z);
  Kernel w = buildKernel(abs(x), abs(y));
  return complex(w.im, copySign(atan2(w.re, x), y));
}

Num alula::input::buildComplexAtan(Num z) {
  // atan(z) = -i atanh(iz)
  Kernel w = buildAtanhParts(-imag(z), real(z));
  return complex(w.im, -w.re);
}

Num alula::input::buildComplexAtanh(Num z) {
  Kernel w = buildAtanhParts(real(z), imag(z));
  return complex(w.re, w.im);
}
