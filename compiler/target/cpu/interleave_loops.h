#pragma once

#include "compiler/target/cpu/machine.h"

#include "llvm/IR/PassManager.h"

namespace llvm {
class Module;
} // namespace llvm

namespace alula::cpu {

/// A math function is a chain of some twenty instructions that wait for each
/// other, and LLVM 19 puts several such chains beside each other only where
/// they are short. Asks for it in loops that call functions which are inlined.
/// To be called before the optimizer.
void interleaveLoops(llvm::Module &module, const Machine &machine,
                     llvm::FunctionAnalysisManager &analyses);

} // namespace alula::cpu
