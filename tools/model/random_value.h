// Numbers for arguments that nobody gave.

#pragma once

#include "tools/values/value.h"

namespace alula::model {

/// Fills a value: floats in [-1, 1), integers 0 to 3 or what fits, the same for
/// the same seed.
void fillRandom(uint64_t seed, values::Value &value);

} // namespace alula::model
