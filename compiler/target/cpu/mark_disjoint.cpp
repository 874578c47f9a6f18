//   %place = or i64 %row, %column         ; 128 × row, column < 64
//   →  %place = or disjoint i64 %row, %column

#include "compiler/target/cpu/mark_disjoint.h"

#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/KnownBits.h"

using namespace llvm;

namespace {
class MarkDisjoint : public PassInfoMixin<MarkDisjoint> {
public:
  PreservedAnalyses run(Function &function, FunctionAnalysisManager &analyses) {
    // Most functions have none.
    SmallVector<PossiblyDisjointInst *> ors;
    for (Instruction &instruction : instructions(function))
      if (auto *part = dyn_cast<PossiblyDisjointInst>(&instruction))
        if (!part->isDisjoint() && part->getType()->isIntegerTy() &&
            !part->getType()->isIntegerTy(1))
          ors.push_back(part);
    if (ors.empty())
      return PreservedAnalyses::all();
    auto &evolution = analyses.getResult<ScalarEvolutionAnalysis>(function);
    for (PossiblyDisjointInst *part : ors) {
      if (findBits(part->getOperand(0), evolution)
              .intersects(findBits(part->getOperand(1), evolution)))
        continue;
      part->setIsDisjoint(true);
      evolution.forgetValue(part);
    }
    return PreservedAnalyses::all();
  }

private:
  /// Bits that may be set. Known ones count, and what loops say of their
  /// counters, through the parts of a place.
  static APInt findBits(Value *value, ScalarEvolution &evolution,
                        unsigned depth = 0) {
    constexpr unsigned parts = 6;
    if (auto *place = dyn_cast<PossiblyDisjointInst>(value);
        place && depth < parts)
      return findBits(place->getOperand(0), evolution, depth + 1) |
             findBits(place->getOperand(1), evolution, depth + 1);
    APInt bits = ~computeKnownBits(value, evolution.getDataLayout()).Zero;
    const SCEV *step = evolution.getSCEV(value);
    unsigned width = bits.getBitWidth();
    bits &= APInt::getBitsSet(
        width, std::min(width, unsigned(evolution.getMinTrailingZeros(step))),
        width);
    return bits &
           APInt::getLowBitsSet(
               width, evolution.getUnsignedRangeMax(step).getActiveBits());
  }
};
} // namespace

void alula::cpu::markDisjoint(PassBuilder &builder) {
  builder.registerVectorizerStartEPCallback(
      [](FunctionPassManager &passes, OptimizationLevel) {
        passes.addPass(MarkDisjoint());
      });
}
