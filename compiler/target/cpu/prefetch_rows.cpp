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

constexpr unsigned lineBytes = 1 << lineBits;
/// What a processor follows at once.
constexpr unsigned mostTables = 2;

struct Access {
  Instruction *instruction;
  /// Null if it is no vector that is read or written.
  Value *address;
  Type *type;
  bool isWrite;
};

Access getAccess(Instruction &instruction) {
  Access access{&instruction, nullptr, instruction.getType(), false};
  Value *stored;
  if (auto *load = dyn_cast<LoadInst>(&instruction)) {
    access.address = load->getPointerOperand();
  } else if (auto *store = dyn_cast<StoreInst>(&instruction)) {
    access.address = store->getPointerOperand();
    access.type = store->getValueOperand()->getType();
    access.isWrite = true;
  } else if (match(&instruction,
                   m_Intrinsic<Intrinsic::masked_store>(
                       m_Value(stored), m_Value(access.address)))) {
    access.type = stored->getType();
    access.isWrite = true;
  } else {
    match(&instruction,
          m_Intrinsic<Intrinsic::masked_load>(m_Value(access.address)));
  }
  if (!access.type->isVectorTy())
    access.address = nullptr;
  return access;
}
} // namespace

void alula::cpu::prefetchRow(Loop &loop, ScalarEvolution &evolution) {
  if (loop.getNumBlocks() != 1 ||
      evolution.getSmallConstantTripCount(&loop) < leastSteps)
    return;
  const DataLayout &layout = loop.getHeader()->getDataLayout();
  SmallPtrSet<const SCEV *, 4> tables;
  SmallVector<Access> accesses;
  for (Instruction &instruction : *loop.getHeader()) {
    if (!instruction.mayReadOrWriteMemory())
      continue;
    Access access = getAccess(instruction);
    auto *place =
        access.address
            ? dyn_cast<SCEVAddRecExpr>(evolution.getSCEV(access.address))
            : nullptr;
    if (!place || place->getLoop() != &loop)
      return;
    // Of what begins with a line, and of few bytes, the hardware thinks.
    if (evolution.getMinTrailingZeros(
            evolution.removePointerBase(place->getStart())) >= lineBits ||
        layout.getTypeStoreSize(access.type) < lineBytes / 2)
      continue;
    tables.insert(evolution.getPointerBase(place));
    accesses.push_back(access);
  }
  if (tables.size() > mostTables)
    return;
  for (const Access &access : accesses) {
    IRBuilder<> b(access.instruction);
    constexpr unsigned keep = 3, isData = 1;
    b.CreateIntrinsic(
        Intrinsic::prefetch, {b.getPtrTy()},
        {b.CreateConstGEP1_64(b.getInt8Ty(), access.address, distance),
         b.getInt32(access.isWrite), b.getInt32(keep), b.getInt32(isData)});
  }
}
