// Expected against actual.

#pragma once

#include "tools/values/value.h"

namespace alula::values {

/// Floats differ if |expected - actual| > absolute + relative * |expected|.
/// A negative number takes the type's default. NaN equals NaN.
struct Tolerance {
  double relative = -1;
  double absolute = -1;
  /// The absolute one is meant for numbers up to 1: where the largest that is
  /// expected is above that, it grows with it. Sums that are added up in another
  /// order differ by so much, whatever is left of them in the end.
  bool growsWithLargest = false;
};

/// True if type, shape and elements agree; else `error` names the first
/// difference with its index, and how many elements differ.
bool compareValues(const Value &expected, const Value &actual,
                   const Tolerance &tolerance, std::string &error);

} // namespace alula::values
