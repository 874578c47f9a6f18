//   call float @llvm.maximum.f32(float %a, float %b)
//   →  %order = icmp sgt i32 (order of %a), (order of %b)
//      %larger = select %order, %a, %b
//      select (%a is NaN), %a, (select (%b is NaN), %b, %larger)
// where the order of a negative number has all bits but the sign flipped.

#include "compiler/target/cpu/expand_extremes.h"

#include "compiler/target/cpu/find_instructions.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace {
bool isExtreme(const Instruction &instruction) {
  auto *call = dyn_cast<IntrinsicInst>(&instruction);
  if (!call)
    return false;
  switch (call->getIntrinsicID()) {
  case Intrinsic::maximum:
  case Intrinsic::minimum:
  case Intrinsic::maxnum:
  case Intrinsic::minnum:
    return true;
  default:
    return false;
  }
}

class Expansion {
public:
  explicit Expansion(IntrinsicInst &call)
      : call(call), b(&call), width(call.getType()->getScalarSizeInBits()),
        integer(call.getType()->getWithNewType(
            IntegerType::get(call.getContext(), width))) {}

  Value *run() {
    Intrinsic::ID id = call.getIntrinsicID();
    bool isLargest = id == Intrinsic::maximum || id == Intrinsic::maxnum;
    bool nanWins = id == Intrinsic::maximum || id == Intrinsic::minimum;
    Value *x = call.getArgOperand(0), *y = call.getArgOperand(1);
    Value *xOrder = getOrder(x), *yOrder = getOrder(y);
    Value *isFirst = isLargest ? b.CreateICmpSGT(xOrder, yOrder)
                               : b.CreateICmpSLT(xOrder, yOrder);
    Value *result = b.CreateSelect(isFirst, x, y);
    if (call.hasNoNaNs())
      return result;
    result = b.CreateSelect(isNan(y), nanWins ? y : x, result);
    return b.CreateSelect(isNan(x), nanWins ? x : y, result);
  }

private:
  Value *getBits(Value *x) { return b.CreateBitCast(x, integer); }

  Value *getOrder(Value *x) {
    Value *bits = getBits(x);
    Value *flip = b.CreateLShr(b.CreateAShr(bits, width - 1), 1);
    return b.CreateXor(bits, flip);
  }

  Value *isNan(Value *x) {
    Value *absolute = b.CreateAnd(
        getBits(x), ConstantInt::get(integer, APInt::getSignedMaxValue(width)));
    return b.CreateICmpUGT(
        absolute,
        b.CreateBitCast(ConstantFP::getInfinity(call.getType()), integer));
  }

  IntrinsicInst &call;
  IRBuilder<> b;
  unsigned width;
  Type *integer;
};
} // namespace

void alula::cpu::expandExtremes(Module &module) {
  for (Instruction *instruction : findInstructions(module, isExtreme)) {
    auto &call = cast<IntrinsicInst>(*instruction);
    call.replaceAllUsesWith(Expansion(call).run());
    call.eraseFromParent();
  }
}
