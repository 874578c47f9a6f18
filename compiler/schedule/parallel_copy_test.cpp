#include "compiler/schedule/parallel_copy.h"

#include <gtest/gtest.h>
#include <map>
#include <random>

using namespace alula::schedule;

namespace {
/// Runs the moves over memories that hold their own numbers.
std::map<int, int> run(llvm::ArrayRef<Move> moves, int count) {
  std::map<int, int> memory;
  for (int i = 0; i < count; ++i)
    memory[i] = i;
  for (const Move &move : moves)
    if (move.kind == Move::Kind::Copy)
      memory[move.target] = memory[move.source];
    else
      std::swap(memory[move.target], memory[move.source]);
  return memory;
}

TEST(ParallelCopy, ReadsBeforeItOverwrites) {
  ParallelCopy copies[] = {{0, 1, false}, {1, 2, false}};
  auto moves = orderCopies(
      copies, [](int, int) { return true; }, [](unsigned) { return 9; });
  ASSERT_EQ(moves.size(), 2u);
  EXPECT_EQ(moves[0].target, 2);
  EXPECT_EQ(moves[1].target, 1);
}

TEST(ParallelCopy, TakesWhatNobodyElseReads) {
  ParallelCopy copies[] = {{0, 1, true}, {2, 3, true}, {2, 4, true}};
  auto moves = orderCopies(
      copies, [](int, int) { return true; }, [](unsigned) { return 9; });
  ASSERT_EQ(moves.size(), 3u);
  EXPECT_EQ(moves[0].kind, Move::Kind::Take);
  EXPECT_EQ(moves[1].kind, Move::Kind::Copy);
  EXPECT_EQ(moves[2].kind, Move::Kind::Take);
}

TEST(ParallelCopy, IsWhatHappensAtOnce) {
  std::mt19937 random(5);
  for (int round = 0; round < 2000; ++round) {
    constexpr int count = 8;
    std::vector<ParallelCopy> copies;
    for (int target = 0; target < count; ++target)
      if (random() % 3)
        copies.push_back({static_cast<int>(random() % count), target, false});
    bool swaps = random() % 2;
    int temporary = count;
    auto moves = orderCopies(
        copies, [&](int, int) { return swaps; },
        [&](unsigned) { return temporary++; });
    auto memory = run(moves, count);
    for (const ParallelCopy &copy : copies)
      EXPECT_EQ(memory[copy.target], copy.source);
  }
}
} // namespace
