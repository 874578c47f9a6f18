// inttoptr(ptrtoint(p) + n) → getelementptr i8, p, n.

#include "compiler/target/cpu/restore_pointers.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;

/// The pointer of which `address` was made, and all that was added to it; null
/// if there is none, or two.
static Value *findPointer(Value *address, SmallVectorImpl<Value *> &added) {
  if (auto *pointer = dyn_cast<PtrToIntInst>(address))
    return pointer->getPointerOperand();
  if (isa<SExtInst, ZExtInst, TruncInst>(address))
    return findPointer(cast<Instruction>(address)->getOperand(0), added);
  auto *sum = dyn_cast<BinaryOperator>(address);
  if (!sum || sum->getOpcode() != Instruction::Add)
    return nullptr;
  SmallVector<Value *> ofLeft, ofRight;
  Value *left = findPointer(sum->getOperand(0), ofLeft);
  Value *right = findPointer(sum->getOperand(1), ofRight);
  if (!left == !right)
    return nullptr;
  append_range(added, left ? ofLeft : ofRight);
  added.push_back(sum->getOperand(left ? 1 : 0));
  return left ? left : right;
}

void alula::cpu::restorePointers(Module &module) {
  SmallVector<IntToPtrInst *> made;
  for (Function &function : module)
    for (Instruction &instruction : instructions(function))
      if (auto *pointer = dyn_cast<IntToPtrInst>(&instruction))
        made.push_back(pointer);
  for (IntToPtrInst *pointer : made) {
    SmallVector<Value *> added;
    Value *whole = findPointer(pointer->getOperand(0), added);
    if (!whole)
      continue;
    IRBuilder<> builder(pointer);
    for (Value *number : added)
      whole = builder.CreateGEP(builder.getInt8Ty(), whole, number);
    pointer->replaceAllUsesWith(whole);
    pointer->eraseFromParent();
  }
}
