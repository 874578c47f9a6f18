#include "compiler/schedule/arena_plan.h"

#include <gtest/gtest.h>
#include <random>

using namespace alula::schedule;

namespace {
bool overlap(int64_t a, int64_t aBytes, int64_t b, int64_t bBytes) {
  return a < b + bBytes && b < a + aBytes;
}

TEST(ArenaPlan, ReusesWhatIsDead) {
  Lifetime lifetimes[] = {{100, {0, 1}}, {100, {1, 2}}, {100, {2, 3}}};
  ArenaPlan plan = planArena(lifetimes, 64);
  EXPECT_EQ(plan.offsets[0], plan.offsets[2]);
  EXPECT_NE(plan.offsets[0], plan.offsets[1]);
  EXPECT_EQ(plan.bytes, 228);
}

TEST(ArenaPlan, EmptyNeedsNothing) { EXPECT_EQ(planArena({}, 64).bytes, 0); }

TEST(ArenaPlan, NeverOverlapsInSpaceAndTime) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<Lifetime> lifetimes;
    for (int i = 0; i < 40; ++i) {
      auto first = static_cast<int64_t>(random() % 30);
      LiveRange range(first, first + static_cast<int64_t>(random() % 6));
      range.add(first + 10, first + 12);
      lifetimes.push_back({static_cast<int64_t>(random() % 500), range});
    }
    ArenaPlan plan = planArena(lifetimes, 64);
    for (size_t a = 0; a < lifetimes.size(); ++a) {
      EXPECT_EQ(plan.offsets[a] % 64, 0);
      EXPECT_LE(plan.offsets[a] + lifetimes[a].bytes, plan.bytes);
      for (size_t b = 0; b < a; ++b)
        if (lifetimes[a].range.overlaps(lifetimes[b].range))
          EXPECT_FALSE(overlap(plan.offsets[a], lifetimes[a].bytes,
                               plan.offsets[b], lifetimes[b].bytes));
    }
  }
}
} // namespace
