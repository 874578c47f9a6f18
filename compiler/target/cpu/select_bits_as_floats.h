#pragma once

namespace llvm {
class Module;
} // namespace llvm

namespace alula::cpu {

/// LLVM 19 makes wrong code of a masked VPTERNLOG whose operands it had to
/// reorder (llvm-project issue 157929): `c ? (x & m) | (y & ~m) : x` on vectors
/// of integers. Between floats the same choice is made by a move of its own.
/// To be called after the optimizer, which would undo it.
void selectBitsAsFloats(llvm::Module &module);

} // namespace alula::cpu
