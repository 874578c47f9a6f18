// Functions defined on the bits of numbers: the next float, the upper half of
// a product.

#include "compiler/input/special_functions.h"

using namespace mlir;
using namespace alula::input;

Num alula::input::buildNextAfter(Num x, Num y) {
  ElementMath &m = *x.math;
  unsigned width = x.element().getIntOrFloatBitWidth();
  Type bits = m.builder.getIntegerType(width);
  auto mask = [&](const APInt &value) { return m.integer(bits, value); };
  Num signBit = mask(APInt::getSignMask(width));
  Num magnitudeBits = mask(APInt::getSignedMaxValue(width));
  Num one = mask(APInt(width, 1)), zero = mask(APInt(width, 0));

  Num xBits = bitcast(x, bits), yBits = bitcast(y, bits);
  Num xMagnitude = xBits & magnitudeBits, yMagnitude = yBits & magnitudeBits;
  // The bits of floats of one sign are ordered as the floats are.
  Num isInward = ((xBits & signBit) != (yBits & signBit)) |
                 (yMagnitude < xMagnitude);
  Num moved = select(isInward, xBits - one, xBits + one);
  Num fromZero = (yBits & signBit) | one;
  Num result =
      bitcast(select(xMagnitude == zero, fromZero, moved), x.element());
  Num isNan = (x != x) | (y != y);
  return select(isNan, x + y, select(x == y, y, result));
}

Num alula::input::buildMulhi(Num a, Num b) {
  ElementMath &m = *a.math;
  auto type = cast<IntegerType>(a.element());
  unsigned width = type.getWidth();
  if (width < 64) {
    Type wide = IntegerType::get(type.getContext(), 2 * width,
                                 type.getSignedness());
    Num product = convert(a, wide) * convert(b, wide);
    // Only the low half survives, so the kind of shift doesn't matter.
    Num upper = shiftRightLogical(product, m.constant(wide, width));
    return convert(upper, type);
  }
  Num half = m.constant(type, 32);
  Num mask = m.integer(type, APInt(64, 0xffffffff));
  Num aLow = a & mask, aHigh = shiftRightLogical(a, half);
  Num bLow = b & mask, bHigh = shiftRightLogical(b, half);
  Num middle = aHigh * bLow + shiftRightLogical(aLow * bLow, half);
  Num carry = aLow * bHigh + (middle & mask);
  Num upper = aHigh * bHigh + shiftRightLogical(middle, half) +
              shiftRightLogical(carry, half);
  if (type.isUnsigned())
    return upper;
  // A negative factor was read as 2^64 more than it is.
  Num zero = m.constant(type, 0);
  return upper - select(a < zero, b, zero) - select(b < zero, a, zero);
}
