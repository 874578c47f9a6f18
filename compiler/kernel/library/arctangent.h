/* The angle of a point, as a sum of two numbers. */
#pragma once

#include "compiler/kernel/library/arithmetic.h"
#include "compiler/kernel/library/coefficients.h"

/* The angle of (x, y) from the x axis; neither is NaN. */
static inline double angleF64(double y, double x) {
  double up = __builtin_fabs(y), side = __builtin_fabs(x);
  int bothInfinite = up == INFINITY_F64 && side == INFINITY_F64;
  up = bothInfinite ? 1 : up;
  side = bothInfinite ? 1 : side;
  int isHuge = up > 0x1p900 || side > 0x1p900;
  up = isHuge ? up * 0x1p-100 : up;
  side = isHuge ? side * 0x1p-100 : side;
  // Below pi / 8, near pi / 4, above 3 pi / 8: angles from three lines.
  int isSteep = up > 2.414 * side;
  int isMiddle = up > 0.414 * side && !isSteep;
  pair difference = sumExact(up, -side), sum = sumExact(up, side);
  pair top = {isSteep    ? -side
              : isMiddle ? difference.high
                         : up,
              isMiddle ? difference.low : 0};
  pair bottom = {isSteep    ? up
                 : isMiddle ? sum.high
                            : side,
                 isMiddle ? sum.low : 0};
  bottom.high = bottom.high == 0 ? 1 : bottom.high;
  double quotient = top.high / bottom.high;
  pair back = productExact(quotient, bottom.high);
  double rest =
      ((top.high - back.high) - back.low) + top.low - quotient * bottom.low;
  // Where the products leave the range there is nothing to repair.
  int isExact = bottom.high < INFINITY_F64 && bottom.high > 0x1p-960 &&
                __builtin_fabs(quotient) > 0x1p-60;
  double lost = isExact ? rest / bottom.high : 0;
  double square = quotient * quotient;
  double tail = muladd(atanTailF64(square) * square, quotient, lost);

  int isLeft = (int)(bitsOfF64(x) >> 63);
  double high = isSteep ? QUARTER_PI_TIMES_2_0
                : isMiddle
                    ? (isLeft ? QUARTER_PI_TIMES_3_0 : QUARTER_PI_TIMES_1_0)
                    : (isLeft ? QUARTER_PI_TIMES_4_0 : 0);
  double low = isSteep ? QUARTER_PI_TIMES_2_1
               : isMiddle
                   ? (isLeft ? QUARTER_PI_TIMES_3_1 : QUARTER_PI_TIMES_1_1)
                   : (isLeft ? QUARTER_PI_TIMES_4_1 : 0);
  pair head = sumOrdered(high, isLeft ? -quotient : quotient);
  double result = head.high + (head.low + (low + (isLeft ? -tail : tail)));
  return copySignF64(result, y);
}

/* The same for results in f32. */
static inline double angleShort(double y, double x) {
  double up = __builtin_fabs(y), side = __builtin_fabs(x);
  int bothInfinite = up == INFINITY_F64 && side == INFINITY_F64;
  up = bothInfinite ? 1 : up;
  side = bothInfinite ? 1 : side;
  int isSteep = up > 2.414 * side;
  int isMiddle = up > 0.414 * side && !isSteep;
  double top = isSteep ? -side : isMiddle ? up - side : up;
  double bottom = isSteep ? up : isMiddle ? up + side : side;
  bottom = bottom == 0 ? 1 : bottom;
  double quotient = top / bottom;
  double square = quotient * quotient;
  double angle = muladd(atanTailShort(square) * square, quotient, quotient);
  angle += isSteep ? QUARTER_PI_TIMES_2_0 : isMiddle ? QUARTER_PI_TIMES_1_0 : 0;
  angle = bitsOfF64(x) >> 63 ? QUARTER_PI_TIMES_4_0 - angle : angle;
  return copySignF64(angle, y);
}
