#pragma once

#include "compiler/target/cpu/machine.h"

namespace llvm {
class Module;
} // namespace llvm

namespace alula::cpu {

/// A maximum that propagates NaN and orders +0 above -0 costs x86 seven
/// dependent instructions for each element. This keeps three accumulators in a
/// loop instead: the maximum without regard to NaN and signs of zero, whether
/// there was a NaN, and the signs. The same for the minimum. To be called
/// before the optimizer.
void reduceExtremes(llvm::Module &module, const Machine &machine);

} // namespace alula::cpu
