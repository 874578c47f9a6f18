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
