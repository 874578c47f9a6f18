#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace alula::schedule {

/// One copy of a parallel copy between numbered memories. No memory is the
/// target of two.
struct ParallelCopy {
  int source, target;
  /// The source's bytes are needed by nobody but these copies, so they may be
  /// exchanged for the target's.
  bool mayTake;
};

/// What the copies become, one after the other.
struct Move {
  enum class Kind {
    Copy, ///< target = source
    Take, ///< target and source are exchanged, what source has then is junk
    Swap  ///< target and source are exchanged, both go on
  } kind;
  int source, target;
  /// The copy that this is part of.
  unsigned copy;
};

/// Sequentializes a parallel copy. Cycles are broken by swaps where `canSwap`
/// says so of both memories, else by way of a memory that `makeTemporary` gives
/// for a copy.
llvm::SmallVector<Move>
orderCopies(llvm::ArrayRef<ParallelCopy> copies,
            llvm::function_ref<bool(int, int)> canSwap,
            llvm::function_ref<int(unsigned)> makeTemporary);

} // namespace alula::schedule
