// Comparing an actual with an expected tensor, for the check ops.
#pragma once

#include "reference/tensor.h"

namespace alula::reference {

/// What a check found wrong; nothing if all is fine. Names the first index
/// that differs with both values, and how many elements differ.
using Difference = std::optional<std::string>;

/// Equal values; NaN equals NaN, and zeros of both signs are equal.
Difference findUnequal(const Tensor &actual, const Tensor &expected);
/// |actual - expected| <= tolerance for each (real or imaginary) part.
Difference findFar(const Tensor &actual, const Tensor &expected,
                   double tolerance);
/// Distance in representable values within [minUlps, maxUlps].
Difference findNotClose(const Tensor &actual, const Tensor &expected,
                        uint64_t minUlps, uint64_t maxUlps);

} // namespace alula::reference
