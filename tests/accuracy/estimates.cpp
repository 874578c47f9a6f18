// Functions that the C library lacks, to some 50 bits, by its long double.

#include "tests/accuracy/functions.h"

#include <cmath>
#include <numbers>

namespace alula::accuracy {

static constexpr long double pi = std::numbers::pi_v<long double>;

bool estimateErfInv(double x, double &y) {
  double size = std::fabs(x);
  if (!(size < 1)) {
    y = size == 1 ? x * INFINITY : NAN;
    return true;
  }
  if (size < 0x1p-20) {
    long double square = static_cast<long double>(x) * x;
    y = static_cast<double>(x * (std::sqrt(pi) / 2) * (1 + pi / 12 * square));
    return true;
  }
  // Winitzki's approximation, then Halley's method.
  long double rest = 1 - static_cast<long double>(size);
  long double logarithm = std::log(rest * (1 + size));
  long double a = 0.147L, b = 2 / (pi * a) + logarithm / 2;
  long double root = std::sqrt(std::sqrt(b * b - logarithm / a) - b);
  for (int i = 0; i < 3; ++i) {
    long double off =
        size < 0.5 ? std::erf(root) - size : rest - std::erfc(root);
    long double u = off * (std::sqrt(pi) / 2) * std::exp(root * root);
    root -= u / (1 + root * u);
  }
  y = std::copysign(static_cast<double>(root), x);
  return true;
}

bool estimateBesselI1e(double x, double &y) {
  long double size = std::fabs(x), sum = 1, term = 1;
  if (!(size < INFINITY)) {
    y = x != x ? x : std::copysign(0.0, x);
    return true;
  }
  if (size > 50) {
    for (int k = 1; k < 100 && std::fabs(term) > 0x1p-70L; ++k) {
      auto odd = static_cast<long double>(2 * k - 1);
      term *= (odd * odd - 4) / (8 * k * size);
      sum += term;
    }
    sum /= std::sqrt(2 * pi * size);
  } else {
    for (int k = 1; term > sum * 0x1p-70L; ++k) {
      term *= size * size / (4.0L * k * (k + 1));
      sum += term;
    }
    sum *= size / 2 * std::exp(-size);
  }
  y = std::copysign(static_cast<double>(sum), x);
  return true;
}

/// For x > 0: up by the recurrence, then the asymptotic series.
static long double digammaOfPositive(long double x) {
  long double below = 0;
  for (; x < 16; ++x)
    below += 1 / x;
  long double square = 1 / (x * x);
  static const long double bernoulli[] = {
      1.0L / 12,        -1.0L / 120,      1.0L / 252, -1.0L / 240,
      1.0L / 132,       -691.0L / 32760,  1.0L / 12,  -3617.0L / 8160,
      43867.0L / 14364, -174611.0L / 6600};
  long double tail = 0;
  for (int i = 9; i >= 0; --i)
    tail = (tail + bernoulli[i]) * square;
  return std::log(x) - 0.5L / x - tail - below;
}

bool estimateDigamma(double x, double &y) {
  if (x <= 0) {
    double fraction = x - std::nearbyint(x);
    if (fraction == 0 || x == -INFINITY) {
      y = NAN;
      return true;
    }
    long double first = digammaOfPositive(1 - static_cast<long double>(x));
    long double second = pi / std::tan(pi * fraction);
    y = static_cast<double>(first - second);
    return std::fabs(y) > 0x1p-10L * std::fabs(first);
  }
  y = x == INFINITY ? INFINITY : static_cast<double>(digammaOfPositive(x));
  return std::fabs(y) > 0x1p-10;
}

bool estimateLgamma(double x, double &y) {
  int sign;
  y = lgamma_r(x, &sign);
  return true;
}

} // namespace alula::accuracy
