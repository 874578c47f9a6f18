#pragma once

#include "compiler/dispatch/kernel_groups.h"

namespace alula::dispatch {

/// Groups of a block in program order, fewer. Those that go over the same
/// elements once, each made of what is at its own place, become one: one loop
/// writes what several of them return. Neighbours whose work together is small
/// become one, control flow included.
llvm::SmallVector<KernelGroup>
mergeGroups(llvm::SmallVector<KernelGroup> groups, const MachineFacts &machine);

} // namespace alula::dispatch
