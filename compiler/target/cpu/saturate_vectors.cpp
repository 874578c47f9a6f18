//   call <16 x i8> @llvm.fptosi.sat(<16 x float> %x)
//   →  %above = select (fcmp ogt %x, -128.0), %x, -128.0
//      %within = select (fcmp olt %above, 127.0), %above, 127.0
//      %integer = trunc (fptosi %within to <16 x i32>) to <16 x i8>
//      select (fcmp ord %x, %x), %integer, 0
// An upper end that is no number of %x's type is chosen where %x is above the
// last number that is below it.

#include "compiler/target/cpu/saturate_vectors.h"

#include "compiler/target/cpu/find_instructions.h"

#include "llvm/IR/IRBuilder.h"
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
  Type *from = call->getArgOperand(0)->getType()->getScalarType();
  return from->isFloatTy() || from->isDoubleTy();
}

void expand(IntrinsicInst &call) {
  IRBuilder<> b(&call);
  Value *x = call.getArgOperand(0);
  bool isSigned = call.getIntrinsicID() == Intrinsic::fptosi_sat;
  unsigned bits = call.getType()->getScalarSizeInBits();
  APInt first =
      isSigned ? APInt::getSignedMinValue(bits) : APInt::getMinValue(bits);
  APInt last =
      isSigned ? APInt::getSignedMaxValue(bits) : APInt::getMaxValue(bits);
  const fltSemantics &semantics =
      x->getType()->getScalarType()->getFltSemantics();
  APFloat lowest(semantics), highest(semantics);
  lowest.convertFromAPInt(first, isSigned, APFloat::rmTowardZero);
  bool isExact = highest.convertFromAPInt(
                     last, isSigned, APFloat::rmTowardZero) == APFloat::opOK;
  Value *least = ConstantFP::get(x->getType(), lowest);
  Value *most = ConstantFP::get(x->getType(), highest);
  Value *above = b.CreateSelect(b.CreateFCmpOGT(x, least), x, least);
  Value *within = b.CreateSelect(b.CreateFCmpOLT(above, most), above, most);
  Value *integer =
      bits < 32
          ? b.CreateTrunc(b.CreateFPToSI(within, x->getType()->getWithNewType(
                                                     b.getInt32Ty())),
                          call.getType())
      : isSigned ? b.CreateFPToSI(within, call.getType())
                 : b.CreateFPToUI(within, call.getType());
  if (!isExact)
    integer = b.CreateSelect(b.CreateFCmpOGT(x, most),
                             ConstantInt::get(call.getType(), last), integer);
  Value *zero = Constant::getNullValue(call.getType());
  // NaN is not above zero either.
  if (isSigned)
    integer = b.CreateSelect(b.CreateFCmpORD(x, x), integer, zero);
  call.replaceAllUsesWith(integer);
  call.eraseFromParent();
}
} // namespace

void alula::cpu::saturateVectors(Module &module) {
  for (Instruction *call : findInstructions(module, isExpanded))
    expand(cast<IntrinsicInst>(*call));
}
