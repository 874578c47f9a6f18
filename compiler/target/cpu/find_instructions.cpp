#include "compiler/target/cpu/find_instructions.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

using namespace llvm;

SmallVector<Instruction *>
alula::cpu::findInstructions(Module &module,
                             function_ref<bool(const Instruction &)> isOne) {
  SmallVector<Instruction *> found;
  for (Function &function : module)
    for (Instruction &instruction : instructions(function))
      if (isOne(instruction))
        found.push_back(&instruction);
  return found;
}
