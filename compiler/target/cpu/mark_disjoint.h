#pragma once

namespace llvm {
class PassBuilder;
} // namespace llvm

namespace alula::cpu {

/// Has the optimizer that `builder` makes say again, before it vectorizes
/// loops, that parts of a place have no bits in common. Sums of such parts
/// become `or disjoint`, and reassociation forgets the flag; then LLVM 19 sees
/// no stride in the place, and neighbours are gathered and scattered.
void markDisjoint(llvm::PassBuilder &builder);

} // namespace alula::cpu
