#pragma once

#include "compiler/input/element_math.h"

// Functions that stablehlo has no op for, as formulas. Real ones take f32 or
// f64, complex ones complex tensors.

namespace alula::input {

Num buildAcos(Num x);
Num buildAcosh(Num x);
Num buildAsin(Num x);
Num buildAsinh(Num x);
Num buildAtan(Num x);
Num buildAtanh(Num x);
Num buildCosh(Num x);
Num buildSinh(Num x);
Num buildSquare(Num x);

Num buildComplexAcos(Num z);
Num buildComplexAcosh(Num z);
Num buildComplexAsin(Num z);
Num buildComplexAsinh(Num z);
Num buildComplexAtan(Num z);
Num buildComplexAtanh(Num z);
Num buildComplexCosh(Num z);
Num buildComplexSinh(Num z);
Num buildComplexSquare(Num z);
/// See chlo._asin_acos_kernel.
Num buildAsinAcosKernel(Num z);

Num buildErf(Num x);
Num buildErfc(Num x);
Num buildErfInv(Num x);

Num buildLgamma(Num x);
Num buildDigamma(Num x);
Num buildZeta(Num x, Num q);
Num buildPolygamma(Num n, Num x);
Num buildBesselI1e(Num x);

/// Takes every IEEE-like float type.
Num buildNextAfter(Num x, Num y);
/// Takes every integer type.
Num buildMulhi(Num a, Num b);

} // namespace alula::input
