//   for (i < 14) for (j < 256) …   →  the outer loop keeps its shape:
//   br label %i, !llvm.loop !{…, !{!"llvm.loop.unroll.disable"}}

#include "compiler/target/cpu/limit_unrolling.h"

#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;

namespace {
/// Loops come from the inside out, each right before LLVM decides whether to
/// write it out: what is still inside stays there.
struct KeepNest : PassInfoMixin<KeepNest> {
  PreservedAnalyses run(Loop &loop, LoopAnalysisManager &,
                        LoopStandardAnalysisResults &, LPMUpdater &) {
    if (!loop.isInnermost() && hasUnrollTransformation(&loop) == TM_Unspecified)
      loop.setLoopAlreadyUnrolled();
    return PreservedAnalyses::all();
  }
};
} // namespace

void alula::cpu::limitUnrolling(PassBuilder &builder) {
  builder.registerLateLoopOptimizationsEPCallback(
      [](LoopPassManager &passes, OptimizationLevel) {
        passes.addPass(KeepNest());
      });
}
