// Expected against actual.

#pragma once

#include "tools/values/value.h"

namespace alula::values {

/// Floats differ if |expected - actual| > absolute + relative * |expected|.
/// A negative number takes the type's default. NaN equals NaN.
struct Tolerance {
  double relative = -1;
  double absolute = -1;
};

/// True if type, shape and elements agree; else `error` names the first
/// difference with its index, and how many elements differ.
bool compareValues(const Value &expected, const Value &actual,
                   const Tolerance &tolerance, std::string &error);

} // namespace alula::values
