// Reductions of arrays: one step of a fold.

#pragma once

#include "alula/artifact.h"

namespace alula::runtime {

/// into[i] = into[i] ∘ from[i], rounded to the type. The type must be one that
/// the reduction takes (`alula_reduction_takes`), both arrays aligned to it.
void reduceInto(alula_reduction reduction, alula_dtype dtype, void *into,
                const void *from, uint64_t count);

} // namespace alula::runtime
