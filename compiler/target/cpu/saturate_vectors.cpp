//   call <16 x i8> @llvm.fptosi.sat(<16 x float> %x)
//   →  %above = select (fcmp ogt %x, -128.0), %x, -128.0
//      %within = select (fcmp olt %above, 127.0), %above, 127.0
//      %integer = trunc (fptosi %within to <16 x i32>) to <16 x i8>
//      select (fcmp ord %x, %x), %integer, 0

#include "compiler/target/cpu/saturate_vectors.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace {
bool isExpanded(const Instruction &instruction) {
  auto *call = dyn_cast<IntrinsicInst>(&instruction);
  if (!call || !call->getType()->isVectorTy() ||
      (call->getIntrinsicID() != Intrinsic::fptosi_sat &&
       call->getIntrinsicID() != Intrinsic::fptoui_sat))
    return false;
  // Both ends of the range are numbers of these.
  Type *from = call->getArgOperand(0)->getType()->getScalarType();
  return (from->isFloatTy() || from->isDoubleTy()) &&
         call->getType()->getScalarSizeInBits() <= 16;
}

void expand(IntrinsicInst &call) {
  IRBuilder<> b(&call);
  Value *x = call.getArgOperand(0);
  bool isSigned = call.getIntrinsicID() == Intrinsic::fptosi_sat;
  unsigned bits = call.getType()->getScalarSizeInBits();
  auto number = [&](const APInt &integer) {
    return ConstantFP::get(x->getType(), isSigned
                                             ? double(integer.getSExtValue())
                                             : double(integer.getZExtValue()));
  };
  Value *least = number(isSigned ? APInt::getSignedMinValue(bits)
                                 : APInt::getMinValue(bits));
  Value *most = number(isSigned ? APInt::getSignedMaxValue(bits)
                                : APInt::getMaxValue(bits));
  Value *above = b.CreateSelect(b.CreateFCmpOGT(x, least), x, least);
  Value *within = b.CreateSelect(b.CreateFCmpOLT(above, most), above, most);
  Value *integer = b.CreateTrunc(
      b.CreateFPToSI(within, x->getType()->getWithNewType(b.getInt32Ty())),
      call.getType());
  Value *zero = Constant::getNullValue(call.getType());
  call.replaceAllUsesWith(
      b.CreateSelect(b.CreateFCmpORD(x, x), integer, zero));
  call.eraseFromParent();
}
} // namespace

void alula::cpu::saturateVectors(Module &module) {
  SmallVector<IntrinsicInst *> calls;
  for (Function &function : module)
    for (Instruction &instruction : instructions(function))
      if (isExpanded(instruction))
        calls.push_back(cast<IntrinsicInst>(&instruction));
  for (IntrinsicInst *call : calls)
    expand(*call);
}
