// Sequentializes parallel copies.

#include "compiler/schedule/parallel_copy.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace alula::schedule;

SmallVector<Move>
alula::schedule::orderCopies(ArrayRef<ParallelCopy> copies,
                             function_ref<bool(int, int)> canSwap,
                             function_ref<int(unsigned)> makeTemporary) {
  struct Pending {
    ParallelCopy copy;
    unsigned number;
  };
  SmallVector<Pending> pending;
  for (auto [number, copy] : enumerate(copies))
    if (copy.source != copy.target)
      pending.push_back({copy, static_cast<unsigned>(number)});
  auto countReaders = [&](int memory) {
    return count_if(pending, [&](const Pending &other) {
      return other.copy.source == memory;
    });
  };

  SmallVector<Move> moves;
  while (!pending.empty()) {
    auto *ready = find_if(pending, [&](const Pending &candidate) {
      return countReaders(candidate.copy.target) == 0;
    });
    if (ready != pending.end()) {
      auto [copy, number] = *ready;
      bool take = copy.mayTake && countReaders(copy.source) == 1;
      moves.push_back({take ? Move::Kind::Take : Move::Kind::Copy, copy.source,
                       copy.target, number});
      pending.erase(ready);
      continue;
    }
    // Only cycles are left: every target is read once more, by the next copy.
    auto [copy, number] = pending.front();
    if (canSwap(copy.source, copy.target)) {
      moves.push_back({Move::Kind::Swap, copy.source, copy.target, number});
      pending.erase(pending.begin());
      // What the target held is now in the source.
      for (Pending &other : pending)
        if (other.copy.source == copy.target)
          other.copy.source = copy.source;
      erase_if(pending, [](const Pending &other) {
        return other.copy.source == other.copy.target;
      });
      continue;
    }
    // Its reader takes it from the temporary, which breaks the cycle.
    auto *reader = find_if(pending, [&](const Pending &other) {
      return other.copy.source == copy.target;
    });
    int temporary = makeTemporary(reader->number);
    moves.push_back({Move::Kind::Copy, copy.target, temporary, reader->number});
    for (Pending &other : pending)
      if (other.copy.source == copy.target) {
        other.copy.source = temporary;
        other.copy.mayTake = false;
      }
  }
  return moves;
}
