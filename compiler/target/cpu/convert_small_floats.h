#pragma once

#include "compiler/target/cpu/machine.h"

namespace llvm {
class Module;
} // namespace llvm

namespace alula::cpu {

/// Turns conversions of half and bfloat that the machine has no instruction
/// for into bit arithmetic and calls of the kernel library, which vectorize;
/// LLVM would call a function for each number.
void convertSmallFloats(llvm::Module &module, const Machine &machine);

} // namespace alula::cpu
