#pragma once

namespace llvm {
class PassBuilder;
} // namespace llvm

namespace alula::cpu {

/// LLVM writes out a loop of few steps even if it holds others that stay: 14
/// loops where one was, each of which is then vectorized by itself. That takes
/// long and code is no faster for it. This has the optimizer that `builder`
/// makes keep such loops; those that hold no others, because they never did or
/// because the inner ones are written out by then, are LLVM's to judge.
void limitUnrolling(llvm::PassBuilder &builder);

} // namespace alula::cpu
