/* erf and 1 - erf. */
#include "compiler/kernel/library/exponential.h"
#include "compiler/kernel/library/real_math.h"

ALULA_INLINE float alula_erf_f32(float x) {
  // 1 - e^-(|x| polynomial); from 3.93 on it is 1.
  float size = clampF32(__builtin_fabsf(x), 0, 3.93f);
  return copySignF32(-expm1NearF32(-size * erfPowerF32(size)), x);
}

ALULA_INLINE float alula_erfc_f32(float x) {
  // e^-a^2 times a polynomial of 1 / (a + 3), a = |x|, both with relative
  // accuracy out to where the result is 0.
  float a = __builtin_fabsf(x);
  a = a > 10.25f ? 10.25f : a;
  float part = 1 / (a + 3);
  float factor = part * erfcScaledF32(muladdf(part, -6, 1));
  // a^2 as a sum: its rounding would be that many times larger in the result.
  float square = a * a, rest;
  if (alula_has_fma) {
    rest = __builtin_fmaf(a, a, -square);
  } else {
    float upper = floatOfBits(bitsOfF32(a) & 0xfffff000u);
    float lower = a - upper;
    rest = upper * upper - square + (a + upper) * lower;
  }
  reducedF32 reduced = reduceExpF32(-square);
  float size = alula_scale_f32(factor * expNearF32(reduced.rest - rest),
                               reduced.n, reduced.exponent);
  return x < 0 ? 2 - size : size;
}

/* In f64: the rational approximations of Cephes' ndtr.c. erf(x) = x top /
 * bottom of x^2 for |x| <= 1. */
static inline double erfTopF64(double x) {
  double y = muladd(9.60497373987051638749, x, 9.00260197203842689217e1);
  y = muladd(y, x, 2.23200534594684319226e3);
  y = muladd(y, x, 7.00332514112805075473e3);
  return muladd(y, x, 5.55923013010394962768e4);
}

static inline double erfBottomF64(double x) {
  double y = x + 3.35617141647503099647e1;
  y = muladd(y, x, 5.21357949780152679795e2);
  y = muladd(y, x, 4.59432382970980127987e3);
  y = muladd(y, x, 2.26290000613890934246e4);
  return muladd(y, x, 4.92673942608635921086e4);
}

/* e^x^2 (1 - erf(x)) for x in [1, 8], as a quotient. */
static inline double erfcNearTopF64(double x) {
  double y = muladd(2.46196981473530512524e-10, x, 5.64189564831068821977e-1);
  y = muladd(y, x, 7.46321056442269912687);
  y = muladd(y, x, 4.86371970985681366614e1);
  y = muladd(y, x, 1.96520832956077098242e2);
  y = muladd(y, x, 5.26445194995477358631e2);
  y = muladd(y, x, 9.34528527171957607540e2);
  y = muladd(y, x, 1.02755188689515710272e3);
  return muladd(y, x, 5.57535335369399327526e2);
}

static inline double erfcNearBottomF64(double x) {
  double y = x + 1.32281951154744992508e1;
  y = muladd(y, x, 8.67072140885989742329e1);
  y = muladd(y, x, 3.54937778887819891062e2);
  y = muladd(y, x, 9.75708501743205489753e2);
  y = muladd(y, x, 1.82390916687909736289e3);
  y = muladd(y, x, 2.24633760818710981792e3);
  y = muladd(y, x, 1.65666309194161350182e3);
  return muladd(y, x, 5.57535340817727675546e2);
}

/* The same from 8 on. */
static inline double erfcFarTopF64(double x) {
  double y = muladd(5.64189583547755073984e-1, x, 1.27536670759978104416);
  y = muladd(y, x, 5.01905042251180477414);
  y = muladd(y, x, 6.16021097993053585195);
  y = muladd(y, x, 7.40974269950448939160);
  return muladd(y, x, 2.97886665372100240670);
}

static inline double erfcFarBottomF64(double x) {
  double y = x + 2.26052863220117276590;
  y = muladd(y, x, 9.39603524938001434673);
  y = muladd(y, x, 1.20489539808096656605e1);
  y = muladd(y, x, 1.70814450747565897222e1);
  y = muladd(y, x, 9.60896809063285878198);
  return muladd(y, x, 3.36907645100081516050);
}

/* e^-a^2 top / bottom for a in [1, 28]; the rounding of a^2 would be that many
 * times larger in the result. */
static inline double erfcOfTailF64(double a, double top, double bottom) {
  pair square = productExact(a, a);
  expF64 power = splitExpF64(-square.high, -square.low);
  double size = (power.mantissa.high + power.mantissa.low) * top / bottom;
  return alula_scale_f64(size, power.n, power.exponent);
}

ALULA_INLINE double alula_erf_f64(double x) {
  double a = __builtin_fabs(x);
  int isNear = a <= 1;
  double square = x * x;
  double near = x * erfTopF64(square) / erfBottomF64(square);
  // From 6 on it is 1.
  double tail = a < 1 ? 1 : a > 6 ? 6 : a;
  double far =
      1 - erfcOfTailF64(tail, erfcNearTopF64(tail), erfcNearBottomF64(tail));
  return isNear ? near : copySignF64(far, x);
}

ALULA_INLINE double alula_erfc_f64(double x) {
  double a = __builtin_fabs(x);
  int isNear = a <= 1;
  double square = x * x;
  double near = 1 - x * erfTopF64(square) / erfBottomF64(square);
  double tail = a < 1 ? 1 : a > 28 ? 28 : a;
  int isFar = tail >= 8;
  double far =
      erfcOfTailF64(tail, isFar ? erfcFarTopF64(tail) : erfcNearTopF64(tail),
                    isFar ? erfcFarBottomF64(tail) : erfcNearBottomF64(tail));
  return isNear ? near : x < 0 ? 2 - far : far;
}
