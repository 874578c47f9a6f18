// Every float type of dtype.h to and from double, by its format's facts.

#pragma once

#include "alula/dtype.h"

#include <cstdint>

namespace alula::values {

/// The number that `bits` stands for. NaN payloads are kept only for f64.
/// `type` must be a FLOAT kind.
double decodeFloat(alula_dtype type, uint64_t bits);

/// The nearest code, ties to even. Beyond the largest number: infinity where
/// the type has one, else NaN, else (f6, f4) the largest number. NaN in a type
/// without one gives zero of the other sign, f8E8M0FNU says NaN for zero and
/// below: as ml_dtypes and XLA do.
uint64_t encodeFloat(alula_dtype type, double value);

} // namespace alula::values
