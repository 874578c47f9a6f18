// The Hurwitz zeta function, by Euler and Maclaurin's sum, and the polygamma
// functions from it.

#include "compiler/input/special_functions.h"

#include <cmath>

using namespace alula::input;

namespace {
/// (2j)! / B_2j for j = 1 to 12, which Cephes' zeta.c lists too.
constexpr double inverseBernoulli[] = {12.0,
                                       -720.0,
                                       30240.0,
                                       -1209600.0,
                                       47900160.0,
                                       -1.8924375803183791606e9,
                                       7.47242496e10,
                                       -2.950130727918164224e12,
                                       1.1646782814350067249e14,
                                       -4.5979787224074726105e15,
                                       1.8152105401943546773e17,
                                       -7.1661652561756670113e18};
constexpr int numTerms = 10;

/// True where an integer-valued x is even.
Num isEven(Num x) { return floor(0.5 * x) * 2.0 == x; }
} // namespace

Num alula::input::buildZeta(Num x, Num q) {
  Num minusX = -x;
  Num sum = pow(q, minusX);
  for (int k = 1; k < numTerms; ++k)
    sum = sum + pow(q + static_cast<double>(k), minusX);
  Num a = q + static_cast<double>(numTerms);
  Num power = pow(a, minusX);

  // The corrections x (x+1) … (x+2j-2) / a^(2j-1) / inverse_j, inside out.
  Num inverseSquare = 1.0 / (a * a);
  int count = std::size(inverseBernoulli);
  Num corrections =
      x.math->constant(x.element(), 1.0 / inverseBernoulli[count - 1]);
  for (int j = count - 1; j >= 1; --j)
    corrections = corrections * ((x + (2.0 * j - 1)) * (x + 2.0 * j)) *
                      inverseSquare +
                  1.0 / inverseBernoulli[j - 1];
  Num tail = power * (a / (x - 1.0) + 0.5 + x / a * corrections);
  // With large x the tail is nothing, and its factors may overflow.
  Num isDone = abs(power) <= abs(sum) * (epsilon(x.element()) * 0x1p-10);
  Num result = select(isDone, sum, sum + tail);

  Num isIntegerQ = (q <= 0.0) & (q == floor(q));
  Num isIntegerX = x == floor(x);
  // Below 0 powers are real for integers only.
  result = select((q < 0.0) & ~isIntegerX, NAN, result);
  Num atPole = select(isIntegerX & isEven(x),
                      x.math->constant(x.element(), INFINITY),
                      x.math->constant(x.element(), NAN));
  result = select(isIntegerQ, atPole, result);
  result = select(x < 1.0, NAN, result);
  return select(x == 1.0, INFINITY, result);
}

Num alula::input::buildPolygamma(Num n, Num x) {
  Num next = n + 1.0;
  Num magnitude = exp(buildLgamma(next)) * buildZeta(next, x);
  Num higher = select(isEven(n), -magnitude, magnitude);
  Num result = select(n == 0.0, buildDigamma(x), higher);
  return select((n < 0.0) | (n != floor(n)), NAN, result);
}
