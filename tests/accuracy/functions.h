// The elementwise ops that accuracy is promised of: what each means in exact
// arithmetic, how far a result may be off.

#pragma once

#include <mpfr.h>
#include <vector>

namespace alula::accuracy {

struct Function {
  /// "stablehlo.exponential"
  const char *op;
  unsigned operands;
  void (*exact)(mpfr_t result, mpfr_t x, mpfr_t y);
  /// The same to a relative error of 2^-40 and quickly, or NULL; false where
  /// it is not sure.
  bool (*estimate)(double x, double &y);
  /// Units in the last place. f16 and bf16 are computed in f32 and rounded.
  double boundNarrow, boundF32, boundF64;
  /// Of a negative argument the unit is at least that of 1: there are roots
  /// which no formula meets.
  bool hasNegativeRoots = false;
};

std::vector<Function> getFunctions();

// Those that neither MPFR nor the C library has, in exact.cpp …
void computeErfInv(mpfr_t result, mpfr_t x);
void computeBesselI1e(mpfr_t result, mpfr_t x);

// … and in estimates.cpp.
bool estimateErfInv(double x, double &y);
bool estimateBesselI1e(double x, double &y);
bool estimateDigamma(double x, double &y);
bool estimateLgamma(double x, double &y);

} // namespace alula::accuracy
