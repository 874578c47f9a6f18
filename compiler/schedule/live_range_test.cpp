#include "compiler/schedule/live_range.h"

#include <gtest/gtest.h>
#include <random>
#include <set>

using namespace alula::schedule;

namespace {
TEST(LiveRange, JoinsNeighbours) {
  LiveRange range(4, 5);
  range.add(8, 9);
  ASSERT_EQ(range.getIntervals().size(), 2u);
  range.add(6, 7);
  ASSERT_EQ(range.getIntervals().size(), 1u);
  EXPECT_EQ(range.getIntervals()[0].first, 4);
  EXPECT_EQ(range.getIntervals()[0].last, 9);
}

TEST(LiveRange, EmptyOverlapsNothing) {
  EXPECT_FALSE(LiveRange().overlaps(LiveRange(0, 100)));
}

TEST(LiveRange, IsASetOfSteps) {
  std::mt19937 random(3);
  for (int round = 0; round < 500; ++round) {
    LiveRange ranges[2];
    std::set<int64_t> steps[2];
    for (int which = 0; which < 2; ++which)
      for (int i = 0; i < 5; ++i) {
        auto first = static_cast<int64_t>(random() % 60);
        int64_t last = first + static_cast<int64_t>(random() % 5);
        ranges[which].add(first, last);
        for (int64_t step = first; step <= last; ++step)
          steps[which].insert(step);
      }
    bool overlap = false;
    for (int64_t step = 0; step < 70; ++step) {
      EXPECT_EQ(ranges[0].contains(step), steps[0].count(step) == 1);
      overlap |= steps[0].count(step) && steps[1].count(step);
    }
    EXPECT_EQ(ranges[0].overlaps(ranges[1]), overlap);
  }
}
} // namespace
