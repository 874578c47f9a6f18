//   select %c, (or (and %x, m), (and %y, n)), %x : <16 x i32>
//   →  bitcast (select %c, (bitcast (or …)), (bitcast %x) : <16 x float>)

#include "compiler/target/cpu/select_bits_as_floats.h"

#include "compiler/target/cpu/find_instructions.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm::PatternMatch;

namespace {
/// Bits of one number and of another, chosen by a mask somehow.
bool isBitSelect(const llvm::Value *value) {
  while (auto *cast = llvm::dyn_cast<llvm::BitCastInst>(value))
    value = cast->getOperand(0);
  return match(value, m_Or(m_Value(), m_Value())) ||
         match(value, m_Xor(m_Value(), m_Value()));
}

llvm::Type *getFloatType(llvm::Type *type) {
  auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  if (!vector)
    return nullptr;
  llvm::LLVMContext &context = type->getContext();
  if (vector->getElementType()->isIntegerTy(32))
    return vector->getWithNewType(llvm::Type::getFloatTy(context));
  if (vector->getElementType()->isIntegerTy(64))
    return vector->getWithNewType(llvm::Type::getDoubleTy(context));
  return nullptr;
}

bool selectsBits(const llvm::Instruction &instruction) {
  auto *select = llvm::dyn_cast<llvm::SelectInst>(&instruction);
  return select && getFloatType(select->getType()) &&
         (isBitSelect(select->getTrueValue()) ||
          isBitSelect(select->getFalseValue()));
}
} // namespace

void alula::cpu::selectBitsAsFloats(llvm::Module &module) {
  for (llvm::Instruction *found : findInstructions(module, selectsBits)) {
    auto *select = llvm::cast<llvm::SelectInst>(found);
    llvm::IRBuilder<> b(select);
    llvm::Type *type = getFloatType(select->getType());
    llvm::Value *chosen = b.CreateSelect(
        select->getCondition(), b.CreateBitCast(select->getTrueValue(), type),
        b.CreateBitCast(select->getFalseValue(), type));
    select->replaceAllUsesWith(b.CreateBitCast(chosen, select->getType()));
    select->eraseFromParent();
  }
}
