#pragma once

#include "compiler/target/cpu/machine.h"

namespace llvm {
class PassBuilder;
} // namespace llvm

namespace alula::cpu {

/// A loop over 1019 numbers is 15 steps of four vectors for LLVM, and then 59
/// numbers by narrower vectors and one by one. Where a machine has masks, this
/// has the optimizer that `builder` makes take as few vectors as there can be:
/// the last one leaves out what is beyond the end. For innermost loops of known
/// length, of which short ones are not written out before.
void maskEnds(llvm::PassBuilder &builder, const Machine &machine);

} // namespace alula::cpu
