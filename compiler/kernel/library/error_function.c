/* erf. */
#include "compiler/kernel/library/exponential.h"
#include "compiler/kernel/library/real_math.h"

ALULA_INLINE float alula_erf_f32(float x) {
  float size = __builtin_fabsf(x);
  float square = x * x;
  float near = muladdf(erfNearF32(square), x, x);
  // 1 - e^-(|x| (|x| + polynomial)); from 4 on it is 1.
  float limited = clampF32(size, 0, 4);
  float power = muladdf(limited, erfFarF32(limited), limited * limited);
  expF32 e = splitExpF32(-power);
  float far = copySignF32(1 - e.mantissa * powerOfTwoF32(e.exponent), x);
  float result = size < 1 ? near : far;
  return x != x ? x : result;
}
