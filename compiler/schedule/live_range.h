#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace alula::schedule {

/// The steps of a function at which some memory holds what is still needed:
/// intervals, both ends included, sorted and apart.
class LiveRange {
public:
  struct Interval {
    int64_t first, last;
  };

  LiveRange() = default;
  LiveRange(int64_t first, int64_t last) { add(first, last); }

  void add(int64_t first, int64_t last);
  void add(const LiveRange &other);
  bool overlaps(const LiveRange &other) const;
  bool contains(int64_t step) const;
  llvm::ArrayRef<Interval> getIntervals() const { return intervals; }

private:
  llvm::SmallVector<Interval, 2> intervals;
};

} // namespace alula::schedule
