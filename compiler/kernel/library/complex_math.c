/* Functions of complex numbers, computed in double; complex<f32> is rounded. */
#include "compiler/kernel/library/complex_math.h"
#include "compiler/kernel/library/arctangent.h"
#include "compiler/kernel/library/complex_parts.h"
#include "compiler/kernel/library/exponential.h"
#include "compiler/kernel/library/logarithm.h"
#include "compiler/kernel/library/real_math.h"
#include "compiler/kernel/library/trigonometry.h"

static inline double angleOf(double y, double x) {
  return y != y || x != x ? NAN_F64 : angleF64(y, x);
}

/* Sine and cosine of one angle. */
typedef struct turn {
  double sine, cosine;
} turn;

static inline turn turnOf(double angle) {
  reducedF64 reduced = reduceF64(angle);
  int isFinite = isFiniteF64(angle);
  return (turn){isFinite ? sinOfF64(reduced, 0) : NAN_F64,
                isFinite ? sinOfF64(reduced, 1) : NAN_F64};
}

static inline turn turnOfShort(float angle) {
  reducedShort reduced = reduceShort(angle);
  int isFinite = isFiniteF64(angle);
  return (turn){isFinite ? sinOfShort(reduced, 0) : NAN_F64,
                isFinite ? sinOfShort(reduced, 1) : NAN_F64};
}

/* What is multiplied by 2^exponent in the end takes this much of it before
 * other products: a denormal sine has few bits to round to. */
static inline int64_t roomFor(int64_t exponent) {
  return exponent > 0 ? 1000 : 0;
}

static inline turn scaleTurn(turn t, int64_t exponent) {
  double scale = powerOfTwoF64(exponent);
  return (turn){t.sine * scale, t.cosine * scale};
}

/* e^x (cosine + i sine), where `size` is e^x without its exponent and
 * `direction` is that many `units` long. An angle that is not finite leaves NaN
 * in both parts, whatever x is. */
static inline complexF64 finishExp(complexF64 z, turn direction, double units,
                                   double size, int64_t exponent) {
  complexF64 result = scaleComplex(
      (complexF64){size * direction.cosine, size * direction.sine}, exponent);
  // A real argument has a real result, even where it overflows.
  result.re = z.im == 0 ? scaleF64(size * units, exponent) : result.re;
  result.im = z.im == 0 ? z.im : result.im;
  return result;
}

static inline complexF64 expOf(complexF64 z) {
  // e^1500 times the smallest number is infinity.
  expF64 e = splitExpF64(clampF64(z.re, -1400, 1500), 0);
  int64_t up = roomFor(e.exponent);
  return finishExp(z, scaleTurn(turnOf(z.im), up), powerOfTwoF64(up),
                   e.mantissa.high + e.mantissa.low, e.exponent - up);
}

/* e^x - 1 for x up to 60. */
static inline pair expm1Pair(double x) {
  expF64 e = splitExpm1F64(clampF64(x, -60, 60), 0);
  double scale = powerOfTwoF64(e.exponent);
  pair base = sumExact(scale, -1);
  pair sum = sumExact(base.high, scale * e.mantissa.high);
  return sumOrdered(sum.high, sum.low + (base.low + scale * e.mantissa.low));
}

static inline complexF64 expm1Of(complexF64 z) {
  if (!isFiniteF64(z.re) || !isFiniteF64(z.im) || z.re > 50) {
    complexF64 e = expOf(z);
    return (complexF64){e.re - 1, e.im};
  }
  // (e^x - 1) cos y - 2 sin(y/2)^2
  reducedF64 angle = reduceF64(z.im), half = reduceF64(0.5 * z.im);
  pair cosine = angle.quarters & 1 ? sinPair(angle.rest) : cosPair(angle.rest);
  double sign = (angle.quarters + 1) & 2 ? -1 : 1;
  cosine = (pair){sign * cosine.high, sign * cosine.low};
  pair halfSine = half.quarters & 1 ? cosPair(half.rest) : sinPair(half.rest);
  pair square = pairProduct(halfSine, halfSine);
  pair re = pairSum(pairProduct(expm1Pair(z.re), cosine),
                    (pair){-2 * square.high, -2 * square.low});
  complexF64 e = expOf(z);
  double onAxis = alula_expm1_f64(z.re);
  return (complexF64){z.im == 0 ? onAxis : re.high + re.low, e.im};
}

/* log(square * 4^exponent) / 2 */
static inline double halfLog(pair square, int64_t exponent) {
  splitF64 split = splitOfF64(square.high);
  double factor = powerOfTwoF64(-split.exponent);
  pair f = sumOrdered(split.mantissa - 1, square.low * factor);
  return 0.5 *
         logOf1pF64(f.high, f.low, doubleOfInt(split.exponent + 2 * exponent));
}

static inline double logOfSize(complexF64 z) {
  int64_t exponent = exponentOf(z);
  complexF64 near = scaleComplex(z, -exponent);
  double result = halfLog(squareOf(near), exponent);
  result = z.re == 0 && z.im == 0 ? -INFINITY_F64 : result;
  result = z.re != z.re || z.im != z.im ? NAN_F64 : result;
  int isInfinite = __builtin_fabs(z.re) == INFINITY_F64 ||
                   __builtin_fabs(z.im) == INFINITY_F64;
  return isInfinite ? INFINITY_F64 : result;
}

static inline complexF64 logOf(complexF64 z) {
  return (complexF64){logOfSize(z), angleOf(z.im, z.re)};
}

static inline complexF64 log1pOf(complexF64 z) {
  pair one = sumExact(1, z.re);
  double angle = angleOf(z.im, one.high);
  double size = largerF64(__builtin_fabs(z.re), __builtin_fabs(z.im));
  if (!(size < 8) || z.re != z.re || z.im != z.im)
    return (complexF64){logOfSize((complexF64){one.high, z.im}), angle};
  // |1 + z|^2 - 1 = 2 x + x^2 + y^2, which cancels near the circle around -1.
  // What each sum rounds away is summed likewise.
  pair x = productExact(z.re, z.re), y = productExact(z.im, z.im);
  pair first = sumExact(2 * z.re, x.high),
       second = sumExact(first.high, y.high);
  pair low = sumExact(x.low, y.low), rest = sumExact(first.low, second.low);
  pair lows = sumExact(low.high, rest.high);
  pair more = sumExact(second.high, lows.high);
  more.low += lows.low + (low.low + rest.low);
  pair square = sumExact(1, more.high);
  square = sumOrdered(square.high, square.low + more.low);
  double re = halfLog(square, 0);
  // Where 1 + z has no size left the squares of its parts are all there is.
  int isNearZero = square.high < 0.0625;
  double direct = logOfSize((complexF64){one.high, z.im});
  // Far below, where what the squares round away underflows: x + y^2 / 2.
  double up = powerOfTwoF64(530);
  pair half = productExact(z.im * up, 0.5 * (z.im * up));
  pair tiny = sumExact(z.re * up * up, half.high);
  re =
      size < 0x1p-450 ? scaleF64(tiny.high + (tiny.low + half.low), -1060) : re;
  return (complexF64){isNearZero ? direct : re, angle};
}

/* cosh and sinh of one number, both times 2^exponent. */
typedef struct growth {
  double cosh, sinh;
  int64_t exponent;
} growth;

static inline growth growthOf(double x) {
  double size = __builtin_fabs(x);
  expF64 large = splitExpF64(clampF64(size, 0, 1500), 0);
  double mantissa = large.mantissa.high + large.mantissa.low;
  int isLarge = size > 40;
  double small = clampF64(size, 0, 50);
  growth result;
  result.cosh = isLarge ? mantissa : alula_cosh_f64(small);
  result.sinh = copySignF64(isLarge ? mantissa : alula_sinh_f64(small), x);
  result.exponent = isLarge ? large.exponent - 1 : 0;
  return result;
}

static inline complexF64 sinOf(complexF64 z) {
  turn t = turnOf(z.re);
  growth g = growthOf(z.im);
  int64_t up = roomFor(g.exponent);
  turn far = scaleTurn(t, up);
  complexF64 result = scaleComplex(
      (complexF64){far.sine * g.cosh, far.cosine * g.sinh}, g.exponent - up);
  int isEndless = __builtin_fabs(z.im) == INFINITY_F64 && !isFiniteF64(z.re);
  result.im = isEndless ? z.im : result.im;
  // Zeros stay, whatever the other part is.
  double zero = t.cosine != t.cosine ? z.im : z.im * t.cosine;
  return (complexF64){z.re == 0 ? z.re : result.re,
                      z.im == 0 ? zero : result.im};
}

static inline complexF64 cosOf(complexF64 z) {
  turn t = turnOf(z.re);
  growth g = growthOf(z.im);
  int64_t up = roomFor(g.exponent);
  turn far = scaleTurn(t, up);
  complexF64 result = scaleComplex(
      (complexF64){far.cosine * g.cosh, -(far.sine * g.sinh)}, g.exponent - up);
  int isEndless = __builtin_fabs(z.im) == INFINITY_F64 && !isFiniteF64(z.re);
  result.re = isEndless ? INFINITY_F64 : result.re;
  double zero = -copySignF64(1, z.im) * (t.sine != t.sine ? 0 : t.sine) * 0.0;
  zero = z.re == 0 ? -(z.re * copySignF64(1, z.im)) : zero;
  return (complexF64){result.re, z.re == 0 || z.im == 0 ? zero : result.im};
}

static inline complexF64 tanhOf(complexF64 z) {
  turn t = turnOf(z.im);
  double size = __builtin_fabs(z.re);
  // (sinh cosh + i sin cos) / (cos^2 + sinh^2)
  double sinh = alula_sinh_f64(clampF64(z.re, -30, 30));
  double cosh = alula_cosh_f64(clampF64(z.re, -30, 30));
  double bottom = t.cosine * t.cosine + sinh * sinh;
  complexF64 near = {sinh * cosh / bottom, t.sine * t.cosine / bottom};
  double end = alula_exp_f64(-2 * size);
  int isBlind = size == INFINITY_F64 && !isFiniteF64(z.im);
  double farIm = isBlind ? 0 : 4 * (t.sine * t.cosine) * end;
  int isFar = size > 22;
  complexF64 result = {isFar ? copySignF64(1, z.re) : near.re,
                       isFar ? farIm : near.im};
  // No phase, and a real part that doesn't drown it: both parts are NaN, as
  // for C's `ctanh`, at a real part of zero too, as for XLA.
  if (!isFiniteF64(z.im) && isFiniteF64(z.re))
    return (complexF64){z.im - z.im, z.im - z.im};
  return (complexF64){z.re == 0 ? z.re : result.re,
                      z.im == 0 ? z.im : result.im};
}

static inline complexF64 tanOf(complexF64 z) {
  complexF64 turned = tanhOf((complexF64){-z.im, z.re});
  return (complexF64){turned.im, -turned.re};
}

static inline complexF64 cbrtOf(complexF64 z) {
  if (z.re == 0 && z.im == 0)
    return z;
  // A third of the exponent is taken out: sizes don't overflow.
  int64_t third = exponentOf(z) / 3;
  double size = absF64(scaleComplex(z, -3 * third));
  double angle = angleOf(z.im, z.re) / 3;
  turn t = turnOf(angle);
  double root = alula_cbrt_f64(size);
  complexF64 result = {root * t.cosine, angle == 0 ? angle : root * t.sine};
  result.re = angle == 0 ? root : result.re;
  result = scaleComplex(result, third);
  // Beside the positive axis the angle underflows before the part does.
  int isFlat = z.re > 0 && __builtin_fabs(z.im) < 0x1p-500 * z.re;
  double flat = z.im / (3 * result.re * result.re);
  result.im = isFlat && isFiniteF64(z.re) ? flat : result.im;
  return result;
}

static inline complexF64 logisticOf(complexF64 z) {
  // e / (1 + e) or 1 / (1 + e), so that e is at most 1.
  int isLeft = z.re < 0;
  complexF64 e =
      expOf((complexF64){-__builtin_fabs(z.re), isLeft ? z.im : -z.im});
  complexF64 one = {1, 0};
  complexF64 top = isLeft ? e : one;
  complexF64 bottom = {1 + e.re, e.im};
  return divideF64(top, bottom);
}

/* The same right beside the poles: 1 + e^x cos y is the sum of 1 - e^x and
 * e^x (1 + cos y), none of which is negative for x <= 0. */
static inline complexF64 logisticLong(complexF64 z) {
  int isLeft = z.re < 0;
  double x = -__builtin_fabs(z.re), y = isLeft ? z.im : -z.im;
  complexF64 e = expOf((complexF64){x, y});
  double half = turnOf(0.5 * y).cosine;
  double size = alula_exp_f64(x);
  complexF64 bottom = {2 * size * (half * half) - alula_expm1_f64(x), e.im};
  complexF64 one = {1, 0};
  return divideF64(isLeft ? e : one, bottom);
}

static inline complexF64 powOf(complexF64 a, complexF64 b) {
  if (b.re == 0 && b.im == 0)
    return (complexF64){1, 0};
  if (a.re == 0 && a.im == 0) {
    if (b.re > 0)
      return (complexF64){0, 0};
    if (b.im == 0)
      return (complexF64){INFINITY_F64, 0};
    return (complexF64){NAN_F64, NAN_F64};
  }
  complexF64 l = logOf(a);
  return expOf((complexF64){sumOfProducts(b.re, l.re, -b.im, l.im),
                            sumOfProducts(b.re, l.im, b.im, l.re)});
}

/* log z to some bits more than a double has, for z finite and not zero. */
static inline void logPairOf(complexF64 z, pair *size, pair *angle) {
  int64_t exponent = exponentOf(z);
  complexF64 near = scaleComplex(z, -exponent);
  pair square = squareOf(near);
  pair log = logPair(square.high);
  log = pairSum(log, (pair){square.low / square.high, 0});
  log = (pair){0.5 * log.high, 0.5 * log.low};
  pair base = {LN2_SUM_0, LN2_SUM_1};
  *size = pairSum(pairTimes(base, doubleOfInt(exponent)), log);
  // What the rounded angle lacks is seen where z is turned back by it.
  double rounded = angleOf(near.im, near.re);
  reducedF64 reduced = reduceF64(rounded);
  pair sine = sinPair(reduced.rest), cosine = cosPair(reduced.rest);
  int isOdd = reduced.quarters & 1;
  double signSine = reduced.quarters & 2 ? -1 : 1;
  double signCosine = (reduced.quarters + 1) & 2 ? -1 : 1;
  pair across = pairSum(pairTimes(isOdd ? sine : cosine, signCosine * near.im),
                        pairTimes(isOdd ? cosine : sine, -signSine * near.re));
  *angle = sumOrdered(rounded, across.high / __builtin_sqrt(square.high));
}

/* Each unit that is lost in b log a is |b log a| units of the power. */
static inline complexF64 powLong(complexF64 a, complexF64 b) {
  int isFinite = isFiniteF64(a.re) && isFiniteF64(a.im) &&
                 __builtin_fabs(b.re) < 0x1p100 &&
                 __builtin_fabs(b.im) < 0x1p100;
  if (!isFinite || (a.re == 0 && a.im == 0) || (b.re == 0 && b.im == 0))
    return powOf(a, b);
  pair size, angle;
  logPairOf(a, &size, &angle);
  pair re = pairSum(pairTimes(size, b.re), pairTimes(angle, -b.im));
  pair im = pairSum(pairTimes(angle, b.re), pairTimes(size, b.im));
  complexF64 result = expOf((complexF64){re.high, im.high});
  if (!isFiniteF64(result.re) || !isFiniteF64(result.im))
    return result;
  // e^(z + d) = e^z (1 + d)
  return (complexF64){result.re + (result.re * re.low - result.im * im.low),
                      result.im + (result.re * im.low + result.im * re.low)};
}

static inline complexF64 atan2Of(complexF64 y, complexF64 x) {
  // -i log((x + i y) / sqrt(x^2 + y^2))
  complexF64 xx = multiplyF64(x, x), yy = multiplyF64(y, y);
  complexF64 size = sqrtF64((complexF64){xx.re + yy.re, xx.im + yy.im});
  complexF64 point = {x.re - y.im, x.im + y.re};
  complexF64 angle = logOf(divideF64(point, size));
  return (complexF64){angle.im, -angle.re};
}

float alula_abs_c64(float re, float im) {
  double x = re, y = im;
  double size = __builtin_sqrt(x * x + y * y);
  int isInfinite =
      __builtin_fabs(x) == INFINITY_F64 || __builtin_fabs(y) == INFINITY_F64;
  return (float)(isInfinite ? INFINITY_F64 : size);
}

double alula_abs_c128(double re, double im) {
  return absF64((complexF64){re, im});
}

#define DEFINE_C128(name, function)                                            \
  void alula_##name##_c128(double re, double im, double *outRe,                \
                           double *outIm) {                                    \
    complexF64 result = function((complexF64){re, im});                        \
    *outRe = result.re;                                                        \
    *outIm = result.im;                                                        \
  }
#define DEFINE_C64(name, function)                                             \
  void alula_##name##_c64(float re, float im, float *outRe, float *outIm) {    \
    complexF64 result = function((complexF64){re, im});                        \
    *outRe = (float)result.re;                                                 \
    *outIm = (float)result.im;                                                 \
  }
#define DEFINE(name, function)                                                 \
  DEFINE_C128(name, function) DEFINE_C64(name, function)

/* These have no branch: loops over them vectorize. */
static inline complexF64 expOfShort(complexF64 z) {
  int64_t exponent;
  double x = clampF64(z.re, -250, 250);
  double n = roundF64(x * LOG2_E, &exponent);
  double r = muladd(-n, LN2_1, muladd(-n, LN2_0, x));
  double size = 1 + muladd(expTailShort(r), r * r, r);
  return finishExp(z, turnOfShort((float)z.im), 1, size, exponent);
}

static inline complexF64 sqrtOfShort(complexF64 z) {
  // Squares of numbers in f32 don't over- or underflow.
  double size = __builtin_sqrt(z.re * z.re + z.im * z.im);
  double main = __builtin_sqrt(0.5 * (__builtin_fabs(z.re) + size));
  double other = main == 0 ? 0 : 0.5 * __builtin_fabs(z.im) / main;
  int isLeft = z.re < 0;
  double re = isLeft ? other : main, im = isLeft ? main : other;
  int isInfiniteRe = __builtin_fabs(z.re) == INFINITY_F64;
  int isNanIm = z.im != z.im;
  re = isInfiniteRe ? (isLeft ? (isNanIm ? z.im : 0) : INFINITY_F64) : re;
  im = isInfiniteRe ? (isLeft ? INFINITY_F64 : (isNanIm ? z.im : 0)) : im;
  int isInfiniteIm = __builtin_fabs(z.im) == INFINITY_F64;
  re = isInfiniteIm ? INFINITY_F64 : re;
  im = isInfiniteIm ? INFINITY_F64 : im;
  return (complexF64){re, copySignF64(im, z.im)};
}

DEFINE_C128(exp, expOf)
ALULA_INLINE DEFINE_C64(exp, expOfShort) DEFINE(expm1, expm1Of)
    DEFINE(log, logOf) DEFINE(log1p, log1pOf)
        DEFINE_C128(logistic, logisticLong) DEFINE_C64(logistic, logisticOf)
            DEFINE(sin, sinOf) DEFINE(cos, cosOf) DEFINE(tan, tanOf)
                DEFINE(tanh, tanhOf) DEFINE_C128(sqrt, sqrtF64) ALULA_INLINE
    DEFINE_C64(sqrt, sqrtOfShort) DEFINE(rsqrt, rsqrtF64) DEFINE(cbrt, cbrtOf)
        DEFINE(sign, signF64)

#define DEFINE_BINARY(name, function, functionShort)                           \
  void alula_##name##_c128(double aRe, double aIm, double bRe, double bIm,     \
                           double *outRe, double *outIm) {                     \
    complexF64 result =                                                        \
        function((complexF64){aRe, aIm}, (complexF64){bRe, bIm});              \
    *outRe = result.re;                                                        \
    *outIm = result.im;                                                        \
  }                                                                            \
  void alula_##name##_c64(float aRe, float aIm, float bRe, float bIm,          \
                          float *outRe, float *outIm) {                        \
    complexF64 result =                                                        \
        functionShort((complexF64){aRe, aIm}, (complexF64){bRe, bIm});         \
    *outRe = (float)result.re;                                                 \
    *outIm = (float)result.im;                                                 \
  }

            DEFINE_BINARY(divide, divideF64, divideShort)
                DEFINE_BINARY(pow, powLong, powOf)
                    DEFINE_BINARY(atan2, atan2Of, atan2Of)

                        ALULA_INLINE
    void alula_multiply_c64(float aRe, float aIm, float bRe, float bIm,
                            float *outRe, float *outIm) {
  *outRe = aRe * bRe - aIm * bIm;
  *outIm = aRe * bIm + aIm * bRe;
}

ALULA_INLINE void alula_multiply_c128(double aRe, double aIm, double bRe,
                                      double bIm, double *outRe,
                                      double *outIm) {
  *outRe = aRe * bRe - aIm * bIm;
  *outIm = aRe * bIm + aIm * bRe;
}
