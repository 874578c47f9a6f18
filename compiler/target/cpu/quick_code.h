#pragma once

#include "llvm/IR/PassManager.h"

// Kernels that take no time however their own code is compiled.

namespace alula::cpu {

/// Whether all work is done by routines: every loop calls one or has few steps,
/// such as those that fill a table for a routine; only loops of few steps read
/// or write memory; and there is no arithmetic but that of places and sizes.
bool onlyCalls(llvm::Module &module, llvm::FunctionAnalysisManager &analyses);

/// Whether a kernel reads and writes very many buffers, each in loops of at
/// most `mostSteps` iterations. Passes that compare or order memory accesses
/// take time that grows with the square of their number, and such a kernel is
/// soon done however it is compiled.
bool isLongAndSoonDone(llvm::Module &module,
                       llvm::FunctionAnalysisManager &analyses,
                       uint64_t mostSteps);

} // namespace alula::cpu
