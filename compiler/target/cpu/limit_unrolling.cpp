//   for (i < 14) for (j < 256) …   →  the outer loop keeps its shape, and the
//   inner one when it is of vectors:
//   br label %i, !llvm.loop !{…, !{!"llvm.loop.unroll.disable"}}

#include "compiler/target/cpu/limit_unrolling.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Constants.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;

namespace {
/// Loops come innermost first, each right before LLVM decides whether to unroll
/// it: inner loops that are still there stay.
struct KeepNest : PassInfoMixin<KeepNest> {
  PreservedAnalyses run(Loop &loop, LoopAnalysisManager &,
                        LoopStandardAnalysisResults &, LPMUpdater &) {
    if (!loop.isInnermost() && hasUnrollTransformation(&loop) == TM_Unspecified)
      loop.setLoopAlreadyUnrolled();
    return PreservedAnalyses::all();
  }
};

/// The vectorizer leaves interleaved loops. LLVM would unroll these again where
/// it knows the trip count, up to the size of the processor's loop buffer.
struct KeepVectorLoops : PassInfoMixin<KeepVectorLoops> {
  PreservedAnalyses run(Function &function, FunctionAnalysisManager &analyses) {
    for (Loop *loop :
         analyses.getResult<LoopAnalysis>(function).getLoopsInPreorder())
      if (loop->isInnermost() &&
          hasUnrollTransformation(loop) == TM_Unspecified &&
          !findOptionMDForLoop(loop, predicate))
        addFollowUp(*loop);
    return PreservedAnalyses::all();
  }

private:
  static constexpr const char
      *followUp = "llvm.loop.vectorize.followup_vectorized",
      // These are for `mask_ends.cpp`.
      *predicate = "llvm.loop.vectorize.predicate.enable";

  static void addFollowUp(Loop &loop) {
    LLVMContext &context = loop.getHeader()->getContext();
    auto *one = ConstantAsMetadata::get(
        ConstantInt::get(Type::getInt32Ty(context), 1));
    auto *isVectorized = MDNode::get(
        context, {MDString::get(context, "llvm.loop.isvectorized"), one});
    auto *keep = MDNode::get(
        context, {MDString::get(context, "llvm.loop.unroll.disable")});
    auto *then = MDNode::get(
        context, {MDString::get(context, followUp), isVectorized, keep});
    loop.setLoopID(makePostTransformationMetadata(context, loop.getLoopID(),
                                                  {followUp}, {then}));
  }
};
} // namespace

void alula::cpu::limitUnrolling(PassBuilder &builder) {
  builder.registerLateLoopOptimizationsEPCallback(
      [](LoopPassManager &passes, OptimizationLevel) {
        passes.addPass(KeepNest());
      });
  builder.registerVectorizerStartEPCallback(
      [](FunctionPassManager &passes, OptimizationLevel) {
        passes.addPass(KeepVectorLoops());
      });
}
