#pragma once

namespace llvm {
class PassBuilder;
} // namespace llvm

namespace alula::cpu {

/// Has the optimizer that `builder` makes keep loops that LLVM would write out
/// for nothing. A loop of few steps around others that stay: 14 loops where one
/// was, each of which is vectorized by itself. And loops of vectors, several of
/// which are beside each other already. Short loops without others inside, also
/// those whose inner ones are written out, are LLVM's to judge.
void limitUnrolling(llvm::PassBuilder &builder);

} // namespace alula::cpu
