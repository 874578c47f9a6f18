//   fcmp olt <16 x half> %a, %b
//   →  fcmp olt (fpext %a : <16 x float>), (fpext %b)
//   call <16 x half> @llvm.floor(%a)
//   →  fptrunc (call <16 x float> @llvm.floor(fpext %a))
// Each result is exact, but for roots, where rounding twice is rounding once.

#include "compiler/target/cpu/widen_halves.h"

#include "compiler/target/cpu/find_instructions.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace {
bool areHalves(const Type *type) {
  return type->isVectorTy() && type->getScalarType()->isHalfTy();
}

bool isDoneNumberByNumber(const Instruction &instruction) {
  if (isa<FCmpInst>(instruction))
    return areHalves(instruction.getOperand(0)->getType());
  auto *call = dyn_cast<IntrinsicInst>(&instruction);
  if (!call || !areHalves(call->getType()))
    return false;
  switch (call->getIntrinsicID()) {
  case Intrinsic::ceil:
  case Intrinsic::floor:
  case Intrinsic::maximum:
  case Intrinsic::maxnum:
  case Intrinsic::minimum:
  case Intrinsic::minnum:
  case Intrinsic::nearbyint:
  case Intrinsic::rint:
  case Intrinsic::round:
  case Intrinsic::roundeven:
  case Intrinsic::sqrt:
  case Intrinsic::trunc:
    return true;
  default:
    return false;
  }
}

void widen(Instruction &instruction) {
  IRBuilder<> b(&instruction);
  auto extend = [&](Value *value) {
    return b.CreateFPExt(value,
                         value->getType()->getWithNewType(b.getFloatTy()));
  };
  if (auto *compare = dyn_cast<FCmpInst>(&instruction)) {
    for (Use &operand : compare->operands())
      operand.set(extend(operand));
    return;
  }
  auto &call = cast<IntrinsicInst>(instruction);
  SmallVector<Value *> operands;
  for (Use &operand : call.args())
    operands.push_back(extend(operand));
  CallInst *wide = b.CreateIntrinsic(call.getIntrinsicID(),
                                     {operands.front()->getType()}, operands);
  wide->copyFastMathFlags(&call);
  call.replaceAllUsesWith(b.CreateFPTrunc(wide, call.getType()));
  call.eraseFromParent();
}
} // namespace

void alula::cpu::widenHalves(Module &module) {
  for (Instruction *instruction :
       findInstructions(module, isDoneNumberByNumber))
    widen(*instruction);
}
