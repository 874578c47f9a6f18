// The list of ops, and what they are by MPFR and by the C library.
//
// Bounds are those of docs/accuracy.md; where XLA publishes one, ours is not
// wider.

#include "tests/accuracy/functions.h"

#include <cmath>

namespace alula::accuracy {
namespace {

#define EXACT(FUNCTION)                                                        \
  [](mpfr_t result, mpfr_t x, mpfr_t) { FUNCTION(result, x, MPFR_RNDN); }
#define EXACT2(FUNCTION)                                                       \
  [](mpfr_t result, mpfr_t x, mpfr_t y) { FUNCTION(result, x, y, MPFR_RNDN); }
#define ESTIMATE(EXPRESSION)                                                   \
  [](double x, double &y) {                                                    \
    y = EXPRESSION;                                                            \
    return true;                                                               \
  }

void logistic(mpfr_t result, mpfr_t x, mpfr_t) {
  mpfr_neg(result, x, MPFR_RNDN);
  mpfr_exp(result, result, MPFR_RNDN);
  mpfr_add_ui(result, result, 1, MPFR_RNDN);
  mpfr_ui_div(result, 1, result, MPFR_RNDN);
}

/// MPFR has no sign at rec_sqrt(-0).
void rsqrt(mpfr_t result, mpfr_t x, mpfr_t) {
  if (mpfr_zero_p(x))
    mpfr_set_inf(result, mpfr_signbit(x) ? -1 : 1);
  else
    mpfr_rec_sqrt(result, x, MPFR_RNDN);
}

void sign(mpfr_t result, mpfr_t x, mpfr_t) {
  if (mpfr_nan_p(x) || mpfr_zero_p(x))
    mpfr_set(result, x, MPFR_RNDN);
  else
    mpfr_set_si(result, mpfr_sgn(x), MPFR_RNDN);
}

void lgamma(mpfr_t result, mpfr_t x, mpfr_t) {
  int sign;
  mpfr_lgamma(result, &sign, x, MPFR_RNDN);
}

/// At 0 there is no limit.
void digamma(mpfr_t result, mpfr_t x, mpfr_t) {
  if (mpfr_zero_p(x))
    mpfr_set_nan(result);
  else
    mpfr_digamma(result, x, MPFR_RNDN);
}

template <int (*FUNCTION)(mpfr_ptr, mpfr_srcptr)>
void roundWhole(mpfr_t result, mpfr_t x, mpfr_t) {
  bool isNegative = mpfr_signbit(x);
  FUNCTION(result, x);
  if (mpfr_zero_p(result))
    mpfr_set_zero(result, isNegative ? -1 : 1);
}
int floorOf(mpfr_ptr result, mpfr_srcptr x) { return mpfr_floor(result, x); }
int ceilOf(mpfr_ptr result, mpfr_srcptr x) { return mpfr_ceil(result, x); }
int roundOf(mpfr_ptr result, mpfr_srcptr x) { return mpfr_round(result, x); }
int evenOf(mpfr_ptr result, mpfr_srcptr x) { return mpfr_roundeven(result, x); }

} // namespace

std::vector<Function> getFunctions() {
  return {
      {"stablehlo.abs", 1, EXACT(mpfr_abs), ESTIMATE(std::fabs(x)), 0, 0, 0},
      {"stablehlo.negate", 1, EXACT(mpfr_neg), ESTIMATE(-x), 0, 0, 0},
      {"stablehlo.sign", 1, sign, nullptr, 0, 0, 0},
      {"stablehlo.ceil", 1, roundWhole<ceilOf>, ESTIMATE(std::ceil(x)), 0, 0,
       0},
      {"stablehlo.floor", 1, roundWhole<floorOf>, ESTIMATE(std::floor(x)), 0, 0,
       0},
      {"stablehlo.round_nearest_afz", 1, roundWhole<roundOf>,
       ESTIMATE(std::round(x)), 0, 0, 0},
      {"stablehlo.round_nearest_even", 1, roundWhole<evenOf>,
       ESTIMATE(std::nearbyint(x)), 0, 0, 0},
      {"stablehlo.sqrt", 1, EXACT(mpfr_sqrt), ESTIMATE(std::sqrt(x)), 0.5, 0.5,
       0.5},
      {"stablehlo.rsqrt", 1, rsqrt, ESTIMATE(1 / std::sqrt(x)), 0.6, 1.5, 1.5},
      {"stablehlo.cbrt", 1, EXACT(mpfr_cbrt), ESTIMATE(std::cbrt(x)), 0.6, 1,
       1},
      {"stablehlo.exponential", 1, EXACT(mpfr_exp), ESTIMATE(std::exp(x)), 0.6,
       1, 1},
      {"stablehlo.exponential_minus_one", 1, EXACT(mpfr_expm1),
       ESTIMATE(std::expm1(x)), 0.6, 1, 1},
      {"stablehlo.log", 1, EXACT(mpfr_log), ESTIMATE(std::log(x)), 0.6, 1, 1},
      {"stablehlo.log_plus_one", 1, EXACT(mpfr_log1p), ESTIMATE(std::log1p(x)),
       0.6, 1, 1},
      {"stablehlo.logistic", 1, logistic, ESTIMATE(1 / (1 + std::exp(-x))), 0.6,
       2, 1},
      {"stablehlo.tanh", 1, EXACT(mpfr_tanh), ESTIMATE(std::tanh(x)), 0.6, 2,
       1},
      {"stablehlo.sine", 1, EXACT(mpfr_sin), ESTIMATE(std::sin(x)), 0.6, 2, 2},
      {"stablehlo.cosine", 1, EXACT(mpfr_cos), ESTIMATE(std::cos(x)), 0.6, 2,
       2},
      {"stablehlo.tan", 1, EXACT(mpfr_tan), ESTIMATE(std::tan(x)), 0.6, 4, 4},
      {"chlo.acos", 1, EXACT(mpfr_acos), ESTIMATE(std::acos(x)), 0.6, 4, 4},
      {"chlo.acosh", 1, EXACT(mpfr_acosh), ESTIMATE(std::acosh(x)), 0.6, 4, 4},
      {"chlo.asin", 1, EXACT(mpfr_asin), ESTIMATE(std::asin(x)), 0.6, 4, 4},
      {"chlo.asinh", 1, EXACT(mpfr_asinh), ESTIMATE(std::asinh(x)), 0.6, 4, 4},
      {"chlo.atan", 1, EXACT(mpfr_atan), ESTIMATE(std::atan(x)), 0.6, 4, 4},
      {"chlo.atanh", 1, EXACT(mpfr_atanh), ESTIMATE(std::atanh(x)), 0.6, 4, 4},
      {"chlo.cosh", 1, EXACT(mpfr_cosh), ESTIMATE(std::cosh(x)), 0.6, 4, 4},
      {"chlo.sinh", 1, EXACT(mpfr_sinh), ESTIMATE(std::sinh(x)), 0.6, 4, 4},
      {"chlo.tan", 1, EXACT(mpfr_tan), ESTIMATE(std::tan(x)), 0.6, 4, 4},
      {"chlo.square", 1, EXACT(mpfr_sqr), ESTIMATE(x * x), 0.5, 0.5, 0.5},
      {"chlo.erf", 1, EXACT(mpfr_erf), ESTIMATE(std::erf(x)), 0.6, 4, 4},
      {"chlo.erfc", 1, EXACT(mpfr_erfc), ESTIMATE(std::erfc(x)), 0.6, 35, 35},
      {"chlo.erf_inv", 1,
       [](mpfr_t result, mpfr_t x, mpfr_t) { computeErfInv(result, x); },
       estimateErfInv, 0.6, 4, 4},
      {"chlo.lgamma", 1, lgamma, estimateLgamma, 0.6, 150, 150, true},
      {"chlo.digamma", 1, digamma, estimateDigamma, 0.6, 150, 150, true},
      {"chlo.bessel_i1e", 1,
       [](mpfr_t result, mpfr_t x, mpfr_t) { computeBesselI1e(result, x); },
       estimateBesselI1e, 0.6, 16, 16},
      {"stablehlo.divide", 2, EXACT2(mpfr_div), nullptr, 0.5, 0.5, 0.5},
      {"stablehlo.power", 2, EXACT2(mpfr_pow), nullptr, 0.6, 1, 1},
      {"stablehlo.atan2", 2, EXACT2(mpfr_atan2), nullptr, 0.6, 1, 1},
      {"stablehlo.remainder", 2, EXACT2(mpfr_fmod), nullptr, 0, 0, 0},
  };
}

} // namespace alula::accuracy
