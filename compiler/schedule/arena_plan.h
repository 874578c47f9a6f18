#pragma once

#include "compiler/schedule/live_range.h"

namespace alula::schedule {

/// A value that needs memory at some steps.
struct Lifetime {
  int64_t bytes;
  LiveRange range;
};

/// What `planArena` found: an offset for each lifetime and the arena's size.
struct ArenaPlan {
  llvm::SmallVector<int64_t> offsets;
  int64_t bytes = 0;
};

/// Places values that live at the same time apart, each aligned; the largest
/// first, each at the lowest offset where it fits.
ArenaPlan planArena(llvm::ArrayRef<Lifetime> lifetimes, uint64_t alignment);

} // namespace alula::schedule
