// Numbers from jax.lax.rng_bit_generator on XLA:CPU, key [1, 2], counter
// [3, 4].
#include "reference/random_bits.h"

#include <gtest/gtest.h>

using namespace alula::reference;

namespace {

using Words = std::vector<uint64_t>;

const Words state = {1 | uint64_t(2) << 32, 3 | uint64_t(4) << 32};

TEST(RandomBits, ThreefryPairsAlongTheFirstEvenDimension) {
  Words moved = state;
  EXPECT_EQ(threefryBits(moved, {2, 3}, false),
            (Words{1576285164, 740599976, 2436392515, 2249660814, 2425682526,
                   1497962777}));
  EXPECT_EQ(moved, (Words{state[0], 6 | uint64_t(4) << 32}));
}

TEST(RandomBits, ThreefryPairsAlongTheLargestOddDimension) {
  Words moved = state;
  EXPECT_EQ(threefryBits(moved, {7}, false),
            (Words{1576285164, 2249660814, 740599976, 2425682526, 2436392515,
                   1497962777, 1335360347}));
  EXPECT_EQ(moved[1], 7 | uint64_t(4) << 32);
}

TEST(RandomBits, ThreefryFills64Bits) {
  Words moved = state;
  EXPECT_EQ(threefryBits(moved, {2}, true),
            (Words{9662219624799024108u, 10418227120389269672u}));
  EXPECT_EQ(moved[1], 5 | uint64_t(4) << 32);
}

TEST(RandomBits, PhiloxTakesFourWordsAtATime) {
  Words moved = state;
  EXPECT_EQ(philoxBits(moved, 7, false),
            (Words{512747620, 1298009047, 1267190206, 761827841, 1383286907,
                   1639995030, 2756207988}));
  EXPECT_EQ(moved, (Words{state[0], 5 | uint64_t(4) << 32}));
}

TEST(RandomBits, PhiloxCarriesIntoTheHighWord) {
  Words moved = {state[0], ~uint64_t(0)};
  EXPECT_EQ(philoxBits(moved, 8, false),
            (Words{875035680, 2457449792, 952865925, 536199321, 67759320,
                   265751716, 222428074, 2049345928}));
  EXPECT_EQ(moved, (Words{state[0], 1}));
}

TEST(RandomBits, PhiloxFills64Bits) {
  Words moved = state;
  EXPECT_EQ(philoxBits(moved, 3, true),
            (Words{5574906407289874532u, 3272025663544478142u,
                   7043725020835825787u}));
  EXPECT_EQ(moved[1], 5 | uint64_t(4) << 32);
}

} // namespace
