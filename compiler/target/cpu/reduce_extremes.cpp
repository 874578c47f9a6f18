//   loop: %m = phi float [ %init, … ], [ %next, … ]
//         %next = call float @llvm.maximum.f32(float %m, float %x)
//   →     %m = phi …; %nans = phi i1 …; %signs = phi i32 …
//         %next = call nnan nsz float @llvm.maxnum.f32(float %m, float %x)
//         or i1 %nans, (%x is NaN);  and i32 %signs, %x
//   and after the loop: NaN, or 0 with the sign, or %m.

#include "compiler/target/cpu/reduce_extremes.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace alula::cpu;
using namespace llvm;

namespace {
/// The accumulators of a reduction.
struct State {
  Value *extreme, *nans, *signs;
};

class Reduction {
public:
  Reduction(PHINode &phi, IntrinsicInst &step, unsigned latch, bool hasMasks)
      : phi(phi), step(step), latch(latch),
        isLargest(step.getIntrinsicID() == Intrinsic::maximum),
        real(phi.getType()),
        bits(
            IntegerType::get(phi.getContext(), real->getPrimitiveSizeInBits())),
        // Vectors of i1 are legal only where there are mask registers.
        nanType(hasMasks ? IntegerType::get(phi.getContext(), 1) : bits) {}

  void rewrite(const Loop &loop) {
    Value *x = step.getArgOperand(step.getArgOperand(0) == &phi ? 1 : 0);
    Value *init = phi.getIncomingValue(1 - latch);
    IRBuilder<> b(&phi);
    State start{b.CreatePHI(real, 2), b.CreatePHI(nanType, 2),
                b.CreatePHI(bits, 2)};
    BasicBlock *entry = phi.getIncomingBlock(1 - latch);
    b.SetInsertPoint(entry->getTerminator());
    // An initial value of NaN must not become the extreme.
    Value *isNan = b.CreateFCmpUNO(init, init);
    connect(start, entry,
            {b.CreateSelect(isNan, ConstantFP::get(real, 0), init),
             b.CreateSExt(isNan, nanType), b.CreateBitCast(init, bits)});
    b.SetInsertPoint(&step);
    State next{
        getExtreme(b, start.extreme, x),
        b.CreateOr(start.nans, b.CreateSExt(b.CreateFCmpUNO(x, x), nanType)),
        combineSigns(b, start.signs, b.CreateBitCast(x, bits))};
    connect(start, phi.getIncomingBlock(latch), next);
    replaceOutside(phi, start, loop);
    replaceOutside(step, next, loop);
    phi.replaceAllUsesWith(PoisonValue::get(real));
    step.eraseFromParent();
    phi.eraseFromParent();
  }

private:
  static void connect(const State &phis, BasicBlock *from,
                      const State &values) {
    cast<PHINode>(phis.extreme)->addIncoming(values.extreme, from);
    cast<PHINode>(phis.nans)->addIncoming(values.nans, from);
    cast<PHINode>(phis.signs)->addIncoming(values.signs, from);
  }

  Value *getExtreme(IRBuilder<> &b, Value *a, Value *x) {
    auto *call = b.CreateBinaryIntrinsic(
        isLargest ? Intrinsic::maxnum : Intrinsic::minnum, a, x);
    // Without the flags loops are not vectorized.
    cast<Instruction>(call)->setHasNoNaNs(true);
    cast<Instruction>(call)->setHasNoSignedZeros(true);
    return call;
  }

  /// The largest zero is negative if all are, the smallest if one is.
  Value *combineSigns(IRBuilder<> &b, Value *a, Value *x) {
    return isLargest ? b.CreateAnd(a, x) : b.CreateOr(a, x);
  }

  Value *finish(IRBuilder<> &b, const State &state) {
    unsigned width = bits->getIntegerBitWidth();
    Value *sign = b.CreateAnd(state.signs, b.getInt(APInt::getSignMask(width)));
    Value *zero = ConstantFP::get(real, 0);
    Value *number = b.CreateSelect(b.CreateFCmpOEQ(state.extreme, zero),
                                   b.CreateBitCast(sign, real), state.extreme);
    return b.CreateSelect(b.CreateIsNotNull(state.nans),
                          ConstantFP::getNaN(real), number);
  }

  void replaceOutside(Instruction &value, const State &state,
                      const Loop &loop) {
    for (Use &use : make_early_inc_range(value.uses())) {
      auto *user = cast<Instruction>(use.getUser());
      if (loop.contains(user))
        continue;
      auto *join = dyn_cast<PHINode>(user);
      IRBuilder<> b(join ? join->getIncomingBlock(use)->getTerminator() : user);
      use.set(finish(b, state));
    }
  }

  PHINode &phi;
  IntrinsicInst &step;
  unsigned latch;
  bool isLargest;
  Type *real, *bits, *nanType;
};

/// True if the accumulator has no other use in the loop.
bool isOnlyReduced(PHINode &phi, IntrinsicInst &step, const Loop &loop) {
  auto isUsedBy = [&](Instruction &value, Instruction &user) {
    return llvm::all_of(value.users(), [&](User *any) {
      return any == &user || !loop.contains(cast<Instruction>(any));
    });
  };
  return step.getArgOperand(0) != step.getArgOperand(1) &&
         isUsedBy(phi, step) && isUsedBy(step, phi);
}

bool rewriteOne(const Loop &loop, bool hasMasks) {
  for (PHINode &phi : loop.getHeader()->phis()) {
    if (phi.getNumIncomingValues() != 2 ||
        !(phi.getType()->isFloatTy() || phi.getType()->isDoubleTy()))
      continue;
    unsigned latch = loop.contains(phi.getIncomingBlock(0u)) ? 0 : 1;
    auto *step = dyn_cast<IntrinsicInst>(phi.getIncomingValue(latch));
    if (!step || !loop.contains(step) ||
        loop.contains(phi.getIncomingBlock(1 - latch)) ||
        !(step->getIntrinsicID() == Intrinsic::maximum ||
          step->getIntrinsicID() == Intrinsic::minimum) ||
        !llvm::is_contained(step->args(), &phi) ||
        !isOnlyReduced(phi, *step, loop))
      continue;
    Reduction(phi, *step, latch, hasMasks).rewrite(loop);
    return true;
  }
  return false;
}
} // namespace

void alula::cpu::reduceExtremes(Module &module, const Machine &machine) {
  if (machine.facts.hasExtremes)
    return;
  bool hasMasks = machine.facts.hasMasks;
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    DominatorTree dominators(function);
    LoopInfo loops(dominators);
    for (Loop *loop : loops.getLoopsInPreorder())
      while (rewriteOne(*loop, hasMasks)) {
      }
  }
}
