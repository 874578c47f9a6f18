#include "compiler/target/cpu/narrow_comparisons.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Passes/PassBuilder.h"

using namespace alula::cpu;
using namespace llvm;
using namespace llvm::PatternMatch;

namespace {
/// Compares the index at operand `place` with what was extended for it.
bool narrow(ICmpInst &comparison, unsigned place, ScalarEvolution &evolution) {
  Value *wide = comparison.getOperand(place), *narrow = nullptr;
  Value *extended = comparison.getOperand(1 - place);
  bool isSigned = match(extended, m_SExt(m_Value(narrow)));
  if ((!isSigned && !match(extended, m_ZExt(m_Value(narrow)))) ||
      !wide->getType()->isIntegerTy(64) || isa<Constant>(wide) ||
      any_of(comparison.users(), IsaPred<BranchInst>))
    return false;
  if (!comparison.isEquality() && comparison.isSigned() != isSigned)
    return false;
  unsigned bits = narrow->getType()->getIntegerBitWidth();
  const SCEV *index = bits < 8 ? nullptr : evolution.getSCEV(wide);
  if (!isa_and_nonnull<SCEVAddRecExpr>(index) ||
      (isSigned ? evolution.getSignedRange(index).getMinSignedBits()
                : evolution.getUnsignedRange(index).getActiveBits()) > bits)
    return false;
  IRBuilder<> builder(&comparison);
  Value *sides[2];
  sides[place] = builder.CreateTrunc(wide, narrow->getType());
  sides[1 - place] = narrow;
  comparison.replaceAllUsesWith(
      builder.CreateICmp(comparison.getPredicate(), sides[0], sides[1]));
  return true;
}

struct NarrowComparisons : PassInfoMixin<NarrowComparisons> {
  PreservedAnalyses run(Function &function, FunctionAnalysisManager &analyses) {
    auto &loops = analyses.getResult<LoopAnalysis>(function);
    if (loops.empty())
      return PreservedAnalyses::all();
    auto &evolution = analyses.getResult<ScalarEvolutionAnalysis>(function);
    SmallVector<ICmpInst *> done;
    for (BasicBlock &block : function)
      if (loops.getLoopFor(&block))
        for (Instruction &instruction : block)
          if (auto *comparison = dyn_cast<ICmpInst>(&instruction);
              comparison && (narrow(*comparison, 0, evolution) ||
                             narrow(*comparison, 1, evolution)))
            done.push_back(comparison);
    for (ICmpInst *comparison : done) {
      evolution.forgetValue(comparison);
      comparison->eraseFromParent();
    }
    PreservedAnalyses preserved;
    preserved.preserveSet<CFGAnalyses>();
    preserved.preserve<ScalarEvolutionAnalysis>();
    return done.empty() ? PreservedAnalyses::all() : preserved;
  }
};
} // namespace

void alula::cpu::narrowComparisons(PassBuilder &builder) {
  builder.registerVectorizerStartEPCallback(
      [](FunctionPassManager &passes, OptimizationLevel) {
        passes.addPass(NarrowComparisons());
      });
}
