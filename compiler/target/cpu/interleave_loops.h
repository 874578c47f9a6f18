#pragma once

#include "compiler/target/cpu/machine.h"

#include "llvm/IR/PassManager.h"

namespace llvm {
class Module;
} // namespace llvm

namespace alula::cpu {

/// A math function is a dependence chain of some twenty instructions, bound by
/// latency, and LLVM 19 interleaves iterations only where loop bodies are
/// small. Asks for it in loops that call functions which are inlined. To be
/// called before the optimizer.
void interleaveLoops(llvm::Module &module, const Machine &machine,
                     llvm::FunctionAnalysisManager &analyses);

} // namespace alula::cpu
