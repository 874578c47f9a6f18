#pragma once

namespace llvm {
class PassBuilder;
} // namespace llvm

namespace alula::cpu {

/// Keeps the optimizer that `builder` makes from unrolling loops without gain:
/// outer loops of few iterations around loops that stay (14 copies, each
/// vectorized by itself), and vectorized loops, which are interleaved already.
/// Short innermost loops, also those that become innermost since the loops
/// inside are unrolled, are LLVM's to judge.
void limitUnrolling(llvm::PassBuilder &builder);

} // namespace alula::cpu
