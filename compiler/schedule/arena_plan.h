#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace alula::schedule {

/// A value that needs memory from step `first` to step `last`, both included.
struct Lifetime {
  int64_t bytes, first, last;
};

/// What `planArena` found: an offset for each lifetime and the arena's size.
struct ArenaPlan {
  llvm::SmallVector<int64_t> offsets;
  int64_t bytes = 0;
};

/// Places values that live at the same time apart, each 64-byte aligned; the
/// largest first, each at the lowest offset where it fits.
ArenaPlan planArena(llvm::ArrayRef<Lifetime> lifetimes);

} // namespace alula::schedule
