#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace llvm {
class Instruction;
class Module;
} // namespace llvm

namespace alula::cpu {

/// The instructions of `module` that `isOne` says, before any is replaced.
llvm::SmallVector<llvm::Instruction *>
findInstructions(llvm::Module &module,
                 llvm::function_ref<bool(const llvm::Instruction &)> isOne);

} // namespace alula::cpu
