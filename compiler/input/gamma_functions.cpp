// The logarithm of the gamma function and its derivative, by the Lanczos
// approximation ("A precision approximation of the gamma function", 1964) with
// g = 7 and nine terms, reflected below 1/2. Its errors are small beside 1 and
// so not beside results near 0: around the roots of positive arguments, the
// factors of the roots are taken out and the rest is a polynomial.

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

/// lgamma(x) / ((x - 1) (x - 2)) in x - 7/4, for x in [3/4, 11/4]; interpolated
/// at Chebyshev points, as all of these.
constexpr double lgammaNear32[] = {
    4.16529939e-5,  -7.69480158e-5,  -1.35763062e-5, 2.32002935e-5,
    0.000195348276, -0.000369274637, 0.00052457835,  -0.00102322681,
    0.00209995308,  -0.00423431395,  0.00877595308,  -0.0190531911,
    0.0445204585,   -0.119481607,    0.450139312};

constexpr double lgammaNear64[] = {
    4.48306527677758083e-9,   -8.04190301245088753e-9,
    -2.25501395543269687e-8,  4.04171912807692748e-8,
    6.62110946212713885e-8,   -1.18723774830881551e-7,
    -9.98159875932844471e-8,  1.78718602349770801e-7,
    1.53137695858845496e-7,   -2.75171910347144353e-7,
    -1.22537750981876301e-8,  1.89997978343052511e-8,
    3.67687394509196869e-7,   -6.70891543507732994e-7,
    9.98108939711163769e-7,   -1.83758027404032765e-6,
    3.48993264218215671e-6,   -6.45647436140659406e-6,
    0.0000119541304157430836, -0.0000222770768949713741,
    0.0000417045811159028044, -0.0000784624285957432982,
    0.00014851686585687846,   -0.000283190550197893364,
    0.000544896983255375474,  -0.00106056608025074542,
    0.00209553388021885192,   -0.00422619412572583446,
    0.00877637042525190899,   -0.0190539578302510462,
    0.0445204471985096755,    -0.119481586625242725,
    0.450139312109256298};

/// digamma(x) / (x - root) in x - 3/2, for x in [1, 2].
constexpr double digammaNear32[] = {0.0109025887,  -0.0163736203, 0.017114989,
                                    -0.0257868836, 0.0408500267,  -0.0620559804,
                                    0.0949846851,  -0.148398861,  0.240542535,
                                    -0.423627497,  0.951055876};

constexpr double digammaNear64[] = {
    0.00011881232908510335,   -0.000178218854885592319,
    0.0000965364626141006168, -0.000144806433680616131,
    0.000323959454013451983,  -0.000485950392200362562,
    0.000690925576128298636,  -0.00103645848173128379,
    0.00156336963136535051,   -0.00234549473973808352,
    0.00351810656380247234,   -0.00527993725553270825,
    0.00792702179686815398,   -0.0119082201059597162,
    0.0179072483173132958,    -0.0269757966597870551,
    0.0407608339408460828,    -0.061922133275488312,
    0.0949887244528903816,    -0.148404923053880915,
    0.240542484240786983,     -0.4236274212814606,
    0.95105587603183288};

/// The positive root of digamma: an f32 and the rest, an f64 and the rest.
constexpr double digammaRoot32[] = {0x1.762d86p0, 0x1.ab5f1fb70d4e4p-27};
constexpr double digammaRoot64[] = {0x1.762d86356be3fp0, 0x1.b86a722197829p-54};

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
  Num direct =
      ((z + 0.5) - t / logT) * logT + 0.5 * std::log(2 * pi) + log(sum);

  // |gamma(x) gamma(1 - x) sin(pi x)| = pi; sine has its period taken out
  // before pi comes in.
  Num magnitude = abs(x);
  Num fraction = magnitude - floor(magnitude);
  Num reduced = select(fraction > 0.5, 1.0 - fraction, fraction);
  // A denormal times pi has lost bits: such are scaled.
  Num isTiny = reduced < 0x1p-30;
  Num sine = select(isTiny, reduced * (pi * 0x1p60), sin(pi * reduced));
  Num logSine = log(sine) - select(isTiny, 60 * std::log(2.0), 0.0 * reduced);
  Num reflected =
      select(isFinite(logSine), std::log(pi) - logSine - direct, -logSine);
  Num result = select(isReflected, reflected, direct);
  Num near = (x - 1.0) * (x - 2.0) *
             (x.isF64() ? polynomial(x - 1.75, lgammaNear64)
                        : polynomial(x - 1.75, lgammaNear32));
  // At 1 a factor is negative: the root must not be -0.
  result = select((x > 0.75) & (x < 2.75), near + 0.0, result);
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
  const double *root = x.isF64() ? digammaRoot64 : digammaRoot32;
  Num near = (x - root[0] - root[1]) *
             (x.isF64() ? polynomial(x - 1.5, digammaNear64)
                        : polynomial(x - 1.5, digammaNear32));
  result = select((x > 1.0) & (x < 2.0), near, result);
  Num isPole = (x <= 0.0) & (x == floor(x));
  // Infinity in both directions of the sum would be NaN.
  result = select(x == INFINITY, INFINITY, result);
  return select(isPole, NAN, result);
}
