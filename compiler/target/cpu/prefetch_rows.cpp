//   %x = load <16 x float>, ptr %p
//   →  call void @llvm.prefetch(ptr (%p + 1024), read, keep, data)

#include "compiler/target/cpu/prefetch_rows.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {
constexpr unsigned distance = 1024;
constexpr unsigned lineBits = 6;
/// In shorter loops prefetched lines would arrive too late.
constexpr unsigned leastSteps = 4;

/// Where a vector is read; null if that is not what the instruction does.
Value *getVectorAddress(Instruction &instruction) {
  if (!instruction.getType()->isVectorTy())
    return nullptr;
  if (auto *load = dyn_cast<LoadInst>(&instruction))
    return load->getPointerOperand();
  Value *address;
  return match(&instruction, m_Intrinsic<Intrinsic::masked_load>(
                                 m_Value(address)))
             ? address
             : nullptr;
}
} // namespace

void alula::cpu::prefetchRow(Loop &loop, ScalarEvolution &evolution) {
  if (loop.getNumBlocks() != 1 ||
      evolution.getSmallConstantTripCount(&loop) < leastSteps)
    return;
  const SCEV *table = nullptr;
  SmallVector<std::pair<Instruction *, Value *>> reads;
  for (Instruction &instruction : *loop.getHeader()) {
    if (!instruction.mayReadOrWriteMemory())
      continue;
    Value *address = getVectorAddress(instruction);
    auto *place =
        address ? dyn_cast<SCEVAddRecExpr>(evolution.getSCEV(address)) : nullptr;
    if (!place || place->getLoop() != &loop)
      return;
    const SCEV *base = evolution.getPointerBase(place);
    if ((table && base != table) ||
        evolution.getMinTrailingZeros(
            evolution.removePointerBase(place->getStart())) >= lineBits)
      return;
    table = base;
    reads.push_back({&instruction, address});
  }
  for (auto [read, address] : reads) {
    IRBuilder<> b(read);
    constexpr unsigned isRead = 0, keep = 3, isData = 1;
    b.CreateIntrinsic(Intrinsic::prefetch, {b.getPtrTy()},
                      {b.CreateConstGEP1_64(b.getInt8Ty(), address, distance),
                       b.getInt32(isRead), b.getInt32(keep),
                       b.getInt32(isData)});
  }
}
