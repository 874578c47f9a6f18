// The logarithm of the gamma function and its derivative, by the Lanczos
// approximation ("A precision approximation of the gamma function", 1964) with
// g = 7 and nine terms, reflected below 1/2.

#include "compiler/input/special_functions.h"

#include <cmath>
#include <numbers>

using namespace alula::input;
using std::numbers::pi;

namespace {
constexpr double lanczosG = 7;
constexpr double lanczosBase = 0.99999999999980993227684700473478;
constexpr double lanczos[] = {
    676.520368121885098567009190444019, -1259.13921672240287047156078755283,
    771.3234287776530788486528258894,   -176.61502916214059906584551354,
    12.507343278686904814458936853,     -0.13857109526572011689554707,
    9.984369578019570859563e-6,         1.50563273514931155834e-7};

/// What both functions start with: z + 1 = x, or 1 - x where x is reflected,
/// t = z + g + 1/2 and its logarithm.
struct Shifted {
  Num isReflected, z, t, logT;
};
Shifted shift(Num x) {
  Num isReflected = x < 0.5;
  Num z = select(isReflected, -x, x - 1.0);
  double offset = lanczosG + 0.5;
  return {isReflected, z, z + offset, log1p(z / offset) + std::log(offset)};
}
} // namespace

Num alula::input::buildLgamma(Num x) {
  auto [isReflected, z, t, logT] = shift(x);
  Num sum = x.math->constant(x.element(), lanczosBase);
  for (auto [index, coefficient] : llvm::enumerate(lanczos))
    sum = sum + coefficient / (z + (static_cast<double>(index) + 1.0));
  // (z + 1/2) log t - t, as one product so that large terms don't cancel.
  Num direct = ((z + 0.5) - t / logT) * logT + 0.5 * std::log(2 * pi) +
               log(sum);

  // |gamma(x) gamma(1 - x) sin(pi x)| = pi; sine has its period taken out
  // before pi comes in.
  Num magnitude = abs(x);
  Num fraction = magnitude - floor(magnitude);
  Num reduced = select(fraction > 0.5, 1.0 - fraction, fraction);
  Num logSine = log(sin(pi * reduced));
  Num reflected = select(isFinite(logSine), std::log(pi) - logSine - direct,
                         -logSine);
  Num result = select(isReflected, reflected, direct);
  return select(magnitude == INFINITY, INFINITY, result);
}

Num alula::input::buildDigamma(Num x) {
  auto [isReflected, z, t, logT] = shift(x);
  Num sum = x.math->constant(x.element(), lanczosBase);
  Num slope = x.math->constant(x.element(), 0.0);
  for (auto [index, coefficient] : llvm::enumerate(lanczos)) {
    Num at = z + (static_cast<double>(index) + 1.0);
    slope = slope - coefficient / (at * at);
    sum = sum + coefficient / at;
  }
  Num direct = logT + (slope / sum - lanczosG / t);
  // digamma(1 - x) - digamma(x) = pi / tan(pi x), the nearest integer taken
  // out of x first.
  Num reduced = x + abs(floor(x + 0.5));
  Num reflected = direct - pi * cos(pi * reduced) / sin(pi * reduced);
  Num result = select(isReflected, reflected, direct);
  Num isPole = (x <= 0.0) & (x == floor(x));
  // Infinity in both directions of the sum would be NaN.
  result = select(x == INFINITY, INFINITY, result);
  return select(isPole, NAN, result);
}
