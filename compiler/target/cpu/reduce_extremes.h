#pragma once

#include "compiler/target/cpu/machine.h"

namespace llvm {
class Module;
} // namespace llvm

namespace alula::cpu {

/// The largest of many numbers, where NaN wins and +0 is above -0, costs x86
/// seven instructions for each, one waiting for the other. This keeps three
/// things in a loop instead: the largest number as if there were no NaN and one
/// zero, whether there was a NaN, and the signs. The same for the smallest. To
/// be called before the optimizer.
void reduceExtremes(llvm::Module &module, const Machine &machine);

} // namespace alula::cpu
