//   loop: … call float @alula_exp_f32(…); br label %loop
//   →  br label %loop, !llvm.loop !{…, !{!"llvm.loop.interleave.count", i32 2}}

#include "compiler/target/cpu/interleave_loops.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;

namespace {
bool callsWhatIsInlined(const Loop &loop) {
  for (const BasicBlock *block : loop.blocks())
    for (const Instruction &instruction : *block)
      if (auto *call = dyn_cast<CallInst>(&instruction))
        if (const Function *callee = call->getCalledFunction();
            callee && !callee->isDeclaration() &&
            callee->hasFnAttribute(Attribute::AlwaysInline))
          return true;
  return false;
}

/// LLVM vectorizes a loop with fewer iterations without a remainder loop: what
/// is interleaved then becomes conditional, and LLVM 19 sinks the operands of
/// each conditional store along every path through them, which takes time that
/// is exponential in the length of the chain. Here loops still test at the top,
/// which counts as one more iteration.
constexpr unsigned fewSteps = 16;

} // namespace

void alula::cpu::interleaveLoops(Module &module, const Machine &machine,
                                 FunctionAnalysisManager &analyses) {
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    auto hasFewSteps = [&](const Loop &loop) {
      unsigned most = analyses.getResult<ScalarEvolutionAnalysis>(function)
                          .getSmallConstantMaxTripCount(&loop);
      return most != 0 && most <= fewSteps;
    };
    for (Loop *loop :
         analyses.getResult<LoopAnalysis>(function).getLoopsInPreorder())
      // Of reductions LLVM itself chooses the interleave count.
      if (loop->isInnermost() && hasSingleElement(loop->getHeader()->phis()) &&
          callsWhatIsInlined(*loop) && !hasFewSteps(*loop))
        addStringMetadataToLoop(loop, "llvm.loop.interleave.count",
                                machine.facts.interleave);
  }
}
