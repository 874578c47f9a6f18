//   fcmp olt <16 x half> %a, %b
//   →  fcmp olt (fpext %a : <16 x float>), (fpext %b)

#include "compiler/target/cpu/compare_halves.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

void alula::cpu::compareHalvesAsFloats(llvm::Module &module) {
  llvm::SmallVector<llvm::FCmpInst *> compares;
  for (llvm::Function &function : module)
    for (llvm::BasicBlock &block : function)
      for (llvm::Instruction &instruction : block)
        if (auto *compare = llvm::dyn_cast<llvm::FCmpInst>(&instruction))
          if (llvm::Type *type = compare->getOperand(0)->getType();
              type->isVectorTy() && type->getScalarType()->isHalfTy())
            compares.push_back(compare);
  for (llvm::FCmpInst *compare : compares) {
    llvm::IRBuilder<> b(compare);
    for (llvm::Use &operand : compare->operands()) {
      auto *type = llvm::cast<llvm::VectorType>(operand->getType());
      operand.set(
          b.CreateFPExt(operand, llvm::VectorType::get(b.getFloatTy(), type)));
    }
  }
}
