#pragma once

#include "compiler/target/cpu/machine.h"

namespace llvm {
class PassBuilder;
} // namespace llvm

namespace alula::cpu {

/// LLVM makes 15 iterations of four vectors of a loop over 1019 elements, and
/// an epilogue of narrower vectors and scalars for the other 59. Where a
/// machine has masks, this has the optimizer that `builder` makes use as few
/// vectors as possible, the last one masked. For innermost loops of known trip
/// count, of which short ones are not unrolled before.
void maskEnds(llvm::PassBuilder &builder, const Machine &machine);

} // namespace alula::cpu
