// Live ranges: sets of program points.

#include "compiler/schedule/live_range.h"

#include "llvm/ADT/STLExtras.h"

using namespace alula::schedule;

void LiveRange::add(int64_t first, int64_t last) {
  // The first interval that touches or follows the new one.
  auto *begin = llvm::partition_point(intervals, [&](const Interval &interval) {
    return interval.last + 1 < first;
  });
  auto *end = begin;
  while (end != intervals.end() && end->first <= last + 1) {
    first = std::min(first, end->first);
    last = std::max(last, end->last);
    ++end;
  }
  begin = intervals.erase(begin, end);
  intervals.insert(begin, {first, last});
}

void LiveRange::add(const LiveRange &other) {
  for (Interval interval : other.intervals)
    add(interval.first, interval.last);
}

bool LiveRange::overlaps(const LiveRange &other) const {
  const Interval *a = intervals.begin(), *b = other.intervals.begin();
  while (a != intervals.end() && b != other.intervals.end()) {
    if (a->last < b->first)
      ++a;
    else if (b->last < a->first)
      ++b;
    else
      return true;
  }
  return false;
}

bool LiveRange::contains(int64_t step) const {
  return overlaps(LiveRange(step, step));
}
