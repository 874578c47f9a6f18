//   loop: … call float @alula_exp_f32(…); br label %loop
//   →  br label %loop, !llvm.loop !{…, !{!"llvm.loop.interleave.count", i32 2}}

#include "compiler/target/cpu/interleave_loops.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
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
} // namespace

void alula::cpu::interleaveLoops(Module &module, const Machine &machine) {
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    DominatorTree dominators(function);
    LoopInfo loops(dominators);
    for (Loop *loop : loops.getLoopsInPreorder())
      // LLVM itself sees to loops that carry a number from step to step.
      if (loop->isInnermost() && hasSingleElement(loop->getHeader()->phis()) &&
          callsWhatIsInlined(*loop))
        addStringMetadataToLoop(loop, "llvm.loop.interleave.count",
                                machine.facts.interleave);
  }
}
