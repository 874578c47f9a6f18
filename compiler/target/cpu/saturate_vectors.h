#pragma once

namespace llvm {
class Module;
} // namespace llvm

namespace alula::cpu {

/// Converts vectors of floats to saturated integers by way of numbers in range,
/// where LLVM would do it number by number. To be called after the optimizer.
void saturateVectors(llvm::Module &module);

} // namespace alula::cpu
