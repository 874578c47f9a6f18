#include "compiler/target/cpu/quick_code.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"

namespace {
bool callsRoutine(const llvm::Instruction &instruction) {
  auto *call = dyn_cast<llvm::CallInst>(&instruction);
  const llvm::Function *callee = call ? call->getCalledFunction() : nullptr;
  return callee && callee->isDeclaration() && !callee->isIntrinsic();
}

bool callsRoutine(const llvm::Loop &loop) {
  return llvm::any_of(loop.blocks(), [](const llvm::BasicBlock *block) {
    return llvm::any_of(*block, [](const llvm::Instruction &instruction) {
      return callsRoutine(instruction);
    });
  });
}

/// At most so many iterations of a loop that counts by one between constants,
/// or the part of such a range that a workgroup has: nearly all loops of
/// kernels do. 0: not known.
uint64_t countPlainSteps(const llvm::Loop &loop) {
  auto *branch = dyn_cast<llvm::BranchInst>(loop.getHeader()->getTerminator());
  auto *compare = branch && branch->isConditional()
                      ? dyn_cast<llvm::ICmpInst>(branch->getCondition())
                      : nullptr;
  if (!compare || compare->getPredicate() != llvm::ICmpInst::ICMP_SLT ||
      !loop.contains(branch->getSuccessor(0)))
    return 0;
  auto *counter = dyn_cast<llvm::PHINode>(compare->getOperand(0));
  llvm::BasicBlock *before = loop.getLoopPredecessor(),
                   *latch = loop.getLoopLatch();
  if (!counter || counter->getParent() != loop.getHeader() || !before || !latch)
    return 0;
  using namespace llvm::PatternMatch;
  if (!match(counter->getIncomingValueForBlock(latch),
             m_Add(m_Specific(counter), m_One())))
    return 0;
  const llvm::APInt *first, *limit;
  auto isLeast = [](llvm::Value *value, const llvm::APInt *&number) {
    return match(value, m_APInt(number)) ||
           match(value, m_UMin(m_Value(), m_APInt(number)));
  };
  llvm::Value *start = counter->getIncomingValueForBlock(before);
  if (!isLeast(compare->getOperand(1), limit) || !isLeast(start, first) ||
      first->isNegative() || limit->isNegative())
    return 0;
  uint64_t skipped = isa<llvm::ConstantInt>(start) ? first->getZExtValue() : 0;
  return limit->getZExtValue() - std::min(limit->getZExtValue(), skipped);
}

/// The same of any loop. LLVM's analysis takes as long as what it would decide,
/// so it is asked last.
uint64_t countSteps(llvm::Loop &loop, llvm::FunctionAnalysisManager &analyses) {
  if (uint64_t steps = countPlainSteps(loop))
    return steps;
  return analyses
      .getResult<llvm::ScalarEvolutionAnalysis>(*loop.getHeader()->getParent())
      .getSmallConstantMaxTripCount(&loop);
}
} // namespace

bool alula::cpu::onlyCalls(llvm::Module &module,
                           llvm::FunctionAnalysisManager &analyses) {
  auto isNumber = [](const llvm::Value *value) {
    return value->getType()->isFPOrFPVectorTy() ||
           value->getType()->isVectorTy();
  };
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    auto &loops = analyses.getResult<llvm::LoopAnalysis>(function);
    // With those around it that call a routine, or call none, as it does
    // itself.
    auto hasFewSteps = [&](llvm::Loop *loop) {
      constexpr uint64_t few = 256;
      bool calls = callsRoutine(*loop);
      uint64_t steps = 1;
      for (; loop && callsRoutine(*loop) == calls && steps && steps <= few;
           loop = loop->getParentLoop())
        steps *= countSteps(*loop, analyses);
      return steps && steps <= few;
    };
    for (llvm::Instruction &instruction : llvm::instructions(function)) {
      if (isNumber(&instruction) ||
          (!callsRoutine(instruction) &&
           llvm::any_of(instruction.operands(), isNumber)))
        return false;
      if (!isa<llvm::LoadInst, llvm::StoreInst>(instruction))
        continue;
      if (auto *loop = loops.getLoopFor(instruction.getParent());
          loop && !hasFewSteps(loop))
        return false;
    }
    for (llvm::Loop *loop : loops.getLoopsInPreorder())
      if (!callsRoutine(*loop) && !hasFewSteps(loop))
        return false;
  }
  return true;
}

bool alula::cpu::isLongAndSoonDone(llvm::Module &module,
                                   llvm::FunctionAnalysisManager &analyses,
                                   uint64_t mostSteps) {
  constexpr unsigned manyBuffers = 128;
  unsigned buffers = 0;
  for (llvm::Function &function : module)
    for (const llvm::Instruction &instruction : llvm::instructions(function))
      buffers += isa<llvm::LoadInst>(instruction) &&
                 instruction.getType()->isPointerTy();
  if (buffers <= manyBuffers)
    return false;
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    for (llvm::Loop *loop : analyses.getResult<llvm::LoopAnalysis>(function)
                                .getLoopsInPreorder()) {
      uint64_t steps = 1;
      for (; loop && steps && steps <= mostSteps; loop = loop->getParentLoop())
        steps *= countSteps(*loop, analyses);
      if (!steps || steps > mostSteps)
        return false;
    }
  }
  return true;
}
