// Packs lifetimes into one arena.

#include "compiler/schedule/arena_plan.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace alula::schedule;

ArenaPlan alula::schedule::planArena(llvm::ArrayRef<Lifetime> lifetimes,
                                     uint64_t alignment) {
  llvm::SmallVector<size_t> order(lifetimes.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  llvm::stable_sort(order, [&](size_t a, size_t b) {
    return lifetimes[a].bytes > lifetimes[b].bytes;
  });

  ArenaPlan plan;
  plan.offsets.resize(lifetimes.size());
  llvm::SmallVector<size_t> placed;
  for (size_t index : order) {
    const Lifetime &lifetime = lifetimes[index];
    // Neighbours in time, by offset; the first gap that is large enough wins.
    int64_t offset = 0;
    for (size_t other : placed) {
      const Lifetime &neighbour = lifetimes[other];
      if (!neighbour.range.overlaps(lifetime.range))
        continue;
      if (offset + lifetime.bytes <= plan.offsets[other])
        break;
      auto end = static_cast<uint64_t>(plan.offsets[other] + neighbour.bytes);
      offset =
          std::max(offset, static_cast<int64_t>(llvm::alignTo(end, alignment)));
    }
    plan.offsets[index] = offset;
    plan.bytes = std::max(plan.bytes, offset + lifetime.bytes);
    auto position = llvm::find_if(
        placed, [&](size_t other) { return plan.offsets[other] > offset; });
    placed.insert(position, index);
  }
  return plan;
}
