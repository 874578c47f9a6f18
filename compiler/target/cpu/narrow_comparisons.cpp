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
class Narrower {
public:
  Narrower(ICmpInst &comparison, ScalarEvolution &evolution)
      : comparison(comparison), evolution(evolution) {}

  bool run() {
    Value *left = comparison.getOperand(0), *right = comparison.getOperand(1);
    if (!left->getType()->isIntegerTy(64) ||
        any_of(comparison.users(),
               [](User *user) { return isa<BranchInst>(user); }))
      return false;
    return narrowExtended(left, right) || narrowExtended(right, left);
  }

private:
  const SCEV *findIndex(Value *value) {
    if (isa<Constant>(value))
      return nullptr;
    const SCEV *found = evolution.getSCEV(value);
    return isa<SCEVAddRecExpr>(found) ? found : nullptr;
  }

  /// An index and what was extended for it.
  bool narrowExtended(Value *wide, Value *extended) {
    Value *narrow = nullptr;
    bool isSigned = match(extended, m_SExt(m_Value(narrow)));
    if (!isSigned && !match(extended, m_ZExt(m_Value(narrow))))
      return false;
    if (!comparison.isEquality() && comparison.isSigned() != isSigned)
      return false;
    unsigned bits = narrow->getType()->getIntegerBitWidth();
    const SCEV *index = bits < 8 ? nullptr : findIndex(wide);
    if (!index)
      return false;
    if (isSigned ? evolution.getSignedRange(index).getMinSignedBits() > bits
                 : evolution.getUnsignedRange(index).getActiveBits() > bits)
      return false;
    compare(narrow->getType(), wide, narrow, extended);
    return true;
  }

  /// `wide`, cut, takes part in the place that `other` does not have.
  void compare(Type *type, Value *wide, Value *narrow, Value *other) {
    IRBuilder<> builder(&comparison);
    Value *cut = builder.CreateTrunc(wide, type);
    bool isFirst = comparison.getOperand(1) == other;
    comparison.replaceAllUsesWith(builder.CreateICmp(comparison.getPredicate(),
                                                     isFirst ? cut : narrow,
                                                     isFirst ? narrow : cut));
  }

  ICmpInst &comparison;
  ScalarEvolution &evolution;
};

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
              comparison && Narrower(*comparison, evolution).run())
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
