// Two functions that MPFR lacks, to the precision of their result.

#include "tests/accuracy/functions.h"

namespace alula::accuracy {
namespace {

/// A number of a precision that is gone at the end of its block.
class Number {
public:
  explicit Number(mpfr_prec_t precision) { mpfr_init2(value, precision); }
  ~Number() { mpfr_clear(value); }
  Number(const Number &) = delete;
  Number &operator=(const Number &) = delete;
  operator mpfr_ptr() { return value; }

private:
  mpfr_t value;
};

} // namespace

// Newton's method on erf or, near 1, on erfc: each step doubles the bits.
void computeErfInv(mpfr_t result, mpfr_t x) {
  int ordered = mpfr_cmpabs_ui(x, 1);
  if (mpfr_nan_p(x) || ordered > 0)
    return mpfr_set_nan(result);
  if (ordered == 0)
    return mpfr_set_inf(result, mpfr_sgn(x));
  if (mpfr_zero_p(x)) {
    mpfr_set(result, x, MPFR_RNDN);
    return;
  }
  mpfr_prec_t precision = mpfr_get_prec(result) + 64;
  Number size(precision), rest(precision + 1100), y(precision);
  Number step(precision), slope(precision), back(precision);
  mpfr_abs(size, x, MPFR_RNDN);
  mpfr_ui_sub(rest, 1, size, MPFR_RNDN);
  double start;
  if (!estimateErfInv(mpfr_get_d(size, MPFR_RNDN), start))
    return mpfr_set_nan(result);
  mpfr_set_d(y, start, MPFR_RNDN);
  // The start may be too small for a double.
  if (mpfr_cmp_d(size, 1e-200) < 0) {
    mpfr_const_pi(y, MPFR_RNDN);
    mpfr_sqrt(y, y, MPFR_RNDN);
    mpfr_div_ui(y, y, 2, MPFR_RNDN);
    mpfr_mul(y, y, size, MPFR_RNDN);
  }
  bool isNear = mpfr_cmp_d(size, 0.5) < 0;
  for (int i = 0; i < 3; ++i) {
    if (isNear) {
      mpfr_erf(back, y, MPFR_RNDN);
      mpfr_sub(step, back, size, MPFR_RNDN);
    } else {
      mpfr_erfc(back, y, MPFR_RNDN);
      mpfr_sub(step, rest, back, MPFR_RNDN);
    }
    // erf' = 2 / sqrt(pi) exp(-y^2)
    mpfr_sqr(slope, y, MPFR_RNDN);
    mpfr_exp(slope, slope, MPFR_RNDN);
    mpfr_mul(step, step, slope, MPFR_RNDN);
    mpfr_const_pi(slope, MPFR_RNDN);
    mpfr_sqrt(slope, slope, MPFR_RNDN);
    mpfr_mul(step, step, slope, MPFR_RNDN);
    mpfr_div_ui(step, step, 2, MPFR_RNDN);
    mpfr_sub(y, y, step, MPFR_RNDN);
  }
  mpfr_setsign(result, y, mpfr_signbit(x), MPFR_RNDN);
}

// exp(-|x|) I1(x): the power series, whose terms are all positive, or far out
// the asymptotic one.
void computeBesselI1e(mpfr_t result, mpfr_t x) {
  if (mpfr_nan_p(x) || mpfr_zero_p(x)) {
    mpfr_set(result, x, MPFR_RNDN);
    return;
  }
  if (mpfr_inf_p(x)) {
    mpfr_set_zero(result, mpfr_sgn(x));
    return;
  }
  mpfr_prec_t precision = mpfr_get_prec(result) + 64;
  Number size(precision), term(precision), sum(precision), factor(precision);
  mpfr_abs(size, x, MPFR_RNDN);
  bool isFar = mpfr_cmp_ui(size, 120) > 0;
  if (isFar) {
    // 1 - 3 / (8x) (1 - ((3^2 - 4) …: term k is -(4 - (2k-1)^2) / (8 k x)
    mpfr_set_ui(term, 1, MPFR_RNDN);
    mpfr_set_ui(sum, 1, MPFR_RNDN);
    for (long k = 1; k < 200; ++k) {
      mpfr_mul_si(term, term, (2 * k - 1) * (2 * k - 1) - 4, MPFR_RNDN);
      mpfr_div(term, term, size, MPFR_RNDN);
      mpfr_div_si(term, term, 8 * k, MPFR_RNDN);
      mpfr_add(sum, sum, term, MPFR_RNDN);
      if (mpfr_get_exp(term) < mpfr_get_exp(sum) - precision)
        break;
    }
    mpfr_const_pi(factor, MPFR_RNDN);
    mpfr_mul(factor, factor, size, MPFR_RNDN);
    mpfr_mul_ui(factor, factor, 2, MPFR_RNDN);
    mpfr_sqrt(factor, factor, MPFR_RNDN);
    mpfr_div(sum, sum, factor, MPFR_RNDN);
  } else {
    mpfr_div_ui(term, size, 2, MPFR_RNDN);
    mpfr_sqr(factor, term, MPFR_RNDN);
    mpfr_set(sum, term, MPFR_RNDN);
    for (unsigned long k = 1; k < 1000; ++k) {
      mpfr_mul(term, term, factor, MPFR_RNDN);
      mpfr_div_ui(term, term, k * (k + 1), MPFR_RNDN);
      mpfr_add(sum, sum, term, MPFR_RNDN);
      if (mpfr_get_exp(term) < mpfr_get_exp(sum) - precision)
        break;
    }
    mpfr_neg(factor, size, MPFR_RNDN);
    mpfr_exp(factor, factor, MPFR_RNDN);
    mpfr_mul(sum, sum, factor, MPFR_RNDN);
  }
  mpfr_setsign(result, sum, mpfr_signbit(x), MPFR_RNDN);
}

} // namespace alula::accuracy
