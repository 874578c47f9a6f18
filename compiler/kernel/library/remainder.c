/* remainder, which is C's fmod. */
#include "compiler/kernel/library/remainder.h"
#include "compiler/kernel/library/real_math.h"

float alula_remainder_f32(float x, float y) { return remainderF32(x, y); }

double alula_remainder_f64(double x, double y) { return remainderF64(x, y); }
