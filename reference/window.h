// Sliding windows over a padded, dilated base.
#pragma once

#include "reference/evaluator.h"

namespace alula::reference {

/// One dimension of a window.
struct WindowDim {
  int64_t size = 1;
  int64_t stride = 1;
  int64_t low = 0, high = 0;
  int64_t baseDilation = 1;
  int64_t windowDilation = 1;

  /// Positions that the window takes over a base of `extent` elements; nothing
  /// if that overflows or a parameter makes no sense.
  std::optional<int64_t> getCount(int64_t extent) const;
  /// The base element under position `offset` of the window placed at `place`,
  /// or -1 if there is padding or a hole.
  int64_t getBase(int64_t place, int64_t offset, int64_t extent) const {
    int64_t at = place * stride + offset * windowDilation - low;
    if (at < 0 || at % baseDilation != 0)
      return -1;
    at /= baseDilation;
    return at < extent ? at : -1;
  }
};

} // namespace alula::reference
