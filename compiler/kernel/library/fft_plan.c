// Plans of Fourier transforms: for kernels, and for the compiler, which makes
// constants of them.
#include "compiler/kernel/library/fft.h"
#include "compiler/kernel/library/machine_facts.h"
#include "compiler/kernel/library/matrix.h"
#include "compiler/kernel/library/thread_forms.h"

/// a b = high + low, exactly.
static double product_error(double a, double b, double product) {
#pragma STDC FP_CONTRACT OFF
  double a_high = a * 134217729, b_high = b * 134217729;
  a_high = a_high - (a_high - a);
  b_high = b_high - (b_high - b);
  double a_low = a - a_high, b_low = b - b_high;
  return ((a_high * b_high - product) + a_high * b_low + a_low * b_high) +
         a_low * b_low;
}

/// exp(-2 pi i k / n) for 0 <= k < n, to the last digit or nearly so.
static double _Complex get_root(int64_t k, int64_t n) {
#pragma STDC FP_CONTRACT OFF
  // The angle is octant * pi/4 + pi/4 * part / n; odd octants count back from
  // their end, so that the angle left is at most pi/4.
  int64_t octant = 8 * k / n, part = 8 * k - octant * n;
  if (octant % 2)
    part = n - part;
  const double quarter_high = 0x1.921fb54442d18p-1;
  const double quarter_low = 0x1.1a62633145c07p-55;
  double ratio = (double)part / (double)n;
  double product = ratio * (double)n;
  double ratio_low =
      (((double)part - product) - product_error(ratio, (double)n, product)) /
      (double)n;
  double x = ratio * quarter_high;
  double x_low = product_error(ratio, quarter_high, x) + ratio * quarter_low +
                 ratio_low * quarter_high;
  double z = x * x;
  // Taylor's series of sine and cosine without their first terms.
  double s = -1.0 / 121645100408832000;
  s = s * z + 1.0 / 355687428096000;
  s = s * z - 1.0 / 1307674368000;
  s = s * z + 1.0 / 6227020800;
  s = s * z - 1.0 / 39916800;
  s = s * z + 1.0 / 362880;
  s = s * z - 1.0 / 5040;
  s = s * z + 1.0 / 120;
  s = s * z - 1.0 / 6;
  double c = 1.0 / 6402373705728000;
  c = -c * z + 1.0 / 20922789888000;
  c = c * z - 1.0 / 87178291200;
  c = c * z + 1.0 / 479001600;
  c = c * z - 1.0 / 3628800;
  c = c * z + 1.0 / 40320;
  c = c * z - 1.0 / 720;
  c = c * z + 1.0 / 24;
  double half = 0.5 * z, rounded = 1 - half;
  double cosine = rounded + (((1 - rounded) - half) + (z * z * c - x * x_low));
  double sine = x + (z * x * s + x_low * (1 - half));
  // Octants 1, 2, 5 and 6 lie nearer to the other axis.
  double re = cosine, im = sine;
  if (octant == 1 || octant == 2 || octant == 5 || octant == 6) {
    re = sine;
    im = cosine;
  }
  if (octant >= 2 && octant < 6)
    re = -re;
  if (octant >= 4)
    im = -im;
  double _Complex root;
  __real__ root = re;
  __imag__ root = -im;
  return root;
}

#define BODY "compiler/kernel/library/fft_passes.inc"
#include "compiler/kernel/library/for_each_element.inc"
#undef BODY
#define BODY "compiler/kernel/library/fft_lanes.inc"
#include "compiler/kernel/library/for_each_element.inc"
#undef BODY
#define BODY "compiler/kernel/library/fft_blocks.inc"
#include "compiler/kernel/library/for_each_element.inc"
#undef BODY
#define BODY "compiler/kernel/library/fft_split.inc"
#include "compiler/kernel/library/for_each_element.inc"
#undef BODY
#define BODY "compiler/kernel/library/fft_plan.inc"
#include "compiler/kernel/library/for_each_element.inc"
