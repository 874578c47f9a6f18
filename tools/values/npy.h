// numpy's .npy files.

#pragma once

#include "tools/values/value.h"

namespace alula::values {

/// Reads a file's bytes. Any format version, byte order and order of
/// dimensions. With `wanted`, its type and shape must be the file's; types that
/// numpy stores as raw voids (ml_dtypes) can only be read that way.
bool readNpy(std::string_view bytes, const Value *wanted, Value &value,
             std::string &error);

/// What numpy.save writes: types that ml_dtypes adds become raw voids.
std::string writeNpy(const Value &value);

} // namespace alula::values
