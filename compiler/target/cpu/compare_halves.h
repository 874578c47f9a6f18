#pragma once

namespace llvm {
class Module;
} // namespace llvm

namespace alula::cpu {

/// Compares vectors of half as vectors of float. The optimizer makes the
/// comparison of what was extended one of halves, and LLVM's x86 without
/// AVX512-FP16 does that number by number. To be called after the optimizer.
void compareHalvesAsFloats(llvm::Module &module);

} // namespace alula::cpu
