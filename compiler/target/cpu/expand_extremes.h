#pragma once

namespace llvm {
class Module;
} // namespace llvm

namespace alula::cpu {

/// Minima and maxima of floats as comparisons of integers, for machines whose
/// floats are calls: LLVM has no code for some of them there.
void expandExtremes(llvm::Module &module);

} // namespace alula::cpu
