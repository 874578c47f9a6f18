/* atan2. */
#include "compiler/kernel/library/arctangent.h"
#include "compiler/kernel/library/real_math.h"

ALULA_INLINE float alula_atan2_f32(float y, float x) {
  float result = (float)angleShort(y, x);
  return y != y || x != x ? NAN_F32 : result;
}

ALULA_INLINE double alula_atan2_f64(double y, double x) {
  double result = angleF64(y, x);
  return y != y || x != x ? NAN_F64 : result;
}
