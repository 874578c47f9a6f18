#pragma once

namespace llvm {
class Module;
} // namespace llvm

namespace alula::cpu {

/// Compares, rounds and chooses vectors of half as vectors of float. The
/// optimizer makes what was done to extended numbers an operation on halves,
/// and LLVM's x86 without AVX512-FP16 does that number by number. To be called
/// after the optimizer.
void widenHalves(llvm::Module &module);

} // namespace alula::cpu
