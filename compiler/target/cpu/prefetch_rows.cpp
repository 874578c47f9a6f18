//   %x = load <16 x float>, ptr %p
//   →  call void @llvm.prefetch(ptr (%p + 1024), read, keep, data)
// or, with the step from row to row, ptr (%p + 4096).

#include "compiler/target/cpu/prefetch_rows.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Passes/PassBuilder.h"

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
/// Values of the intrinsic.
enum class Cache : unsigned { second = 2, first = 3 };

void prefetch(const Access &access, int64_t distance, Cache cache) {
  IRBuilder<> b(access.instruction);
  constexpr unsigned isData = 1;
  b.CreateIntrinsic(
      Intrinsic::prefetch, {b.getPtrTy()},
      {b.CreateConstGEP1_64(b.getInt8Ty(), access.address, distance),
       b.getInt32(access.isWrite), b.getInt32(unsigned(cache)),
       b.getInt32(isData)});
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
  for (const Access &access : accesses)
    prefetch(access, distance, Cache::first);
}

namespace {
/// What a loop reads of one array.
struct Row {
  const SCEV *start;
  uint64_t bytes;
  Loop *loop;
  /// That asks for the next row.
  Loop *asker = nullptr;
};

/// A vector of a row.
struct Part {
  Access access;
  const SCEVAddRecExpr *place;
  uint64_t step, bytes;
};

std::optional<Part> getPart(Instruction &instruction, Loop &loop,
                            ScalarEvolution &evolution) {
  if (!instruction.mayReadFromMemory())
    return std::nullopt;
  Access access = getAccess(instruction);
  if (!access.address || access.isWrite)
    return std::nullopt;
  auto *place = dyn_cast<SCEVAddRecExpr>(evolution.getSCEV(access.address));
  if (!place || place->getLoop() != &loop || !place->isAffine())
    return std::nullopt;
  auto *step = dyn_cast<SCEVConstant>(place->getStepRecurrence(evolution));
  if (!step || !step->getAPInt().isStrictlyPositive())
    return std::nullopt;
  uint64_t bytes = step->getAPInt().getZExtValue();
  return Part{access, place, bytes,
              bytes * evolution.getSmallConstantTripCount(&loop)};
}

/// The bytes of a row that are before the part, if it is of the row.
std::optional<uint64_t> getOffset(const Part &part, const Row &row,
                                  ScalarEvolution &evolution) {
  auto *offset = dyn_cast<SCEVConstant>(
      evolution.getMinusSCEV(part.place->getStart(), row.start));
  if (!offset || offset->getAPInt().isNegative() ||
      offset->getAPInt().uge(part.step))
    return std::nullopt;
  return offset->getAPInt().getZExtValue();
}

/// From one row to the next, in bytes; 0: not known.
int64_t getRowStep(const Row &row, ScalarEvolution &evolution) {
  auto *start = dyn_cast<SCEVAddRecExpr>(row.start);
  if (!start || start->getLoop() != row.loop->getParentLoop() ||
      !start->isAffine())
    return 0;
  auto *step = dyn_cast<SCEVConstant>(start->getStepRecurrence(evolution));
  return step ? step->getAPInt().getSExtValue() : 0;
}

/// Of loops that are inside of one, in order.
void prefetchFromNext(ArrayRef<Loop *> loops, ScalarEvolution &evolution) {
  // Less is on its way when it is asked for, more is gone before it is read.
  constexpr uint64_t leastBytes = 512, mostBytes = 1 << 18;
  // Three rows have room in any first-level cache.
  constexpr uint64_t mostInFirstCache = 1 << 13;
  SmallVector<Row> rows;
  for (Loop *loop : loops) {
    if (loop->getNumBlocks() != 1 ||
        evolution.getSmallConstantTripCount(loop) < leastSteps)
      continue;
    for (Instruction &instruction : *loop->getHeader()) {
      std::optional<Part> part = getPart(instruction, *loop, evolution);
      if (!part || part->bytes < leastBytes || part->bytes > mostBytes)
        continue;
      std::optional<uint64_t> offset;
      auto *row = find_if(rows, [&](const Row &row) {
        offset = getOffset(*part, row, evolution);
        return offset.has_value();
      });
      if (row == rows.end()) {
        rows.push_back({part->place->getStart(), part->bytes, loop});
        continue;
      }
      int64_t step = getRowStep(*row, evolution);
      if (row->loop == loop || (row->asker && row->asker != loop) || !step)
        continue;
      row->asker = loop;
      // Once for each line.
      if (*offset % lineBytes == 0)
        prefetch(part->access, step,
                 row->bytes <= mostInFirstCache ? Cache::first : Cache::second);
    }
  }
}

struct PrefetchNextRows : PassInfoMixin<PrefetchNextRows> {
  PreservedAnalyses run(Function &function, FunctionAnalysisManager &analyses) {
    auto &loops = analyses.getResult<LoopAnalysis>(function);
    MapVector<Loop *, SmallVector<Loop *>> innermost;
    for (Loop *loop : loops.getLoopsInPreorder())
      if (loop->isInnermost() && loop->getParentLoop())
        innermost[loop->getParentLoop()].push_back(loop);
    for (auto &[parent, inside] : innermost)
      if (inside.size() > 1)
        prefetchFromNext(inside,
                         analyses.getResult<ScalarEvolutionAnalysis>(function));
    return PreservedAnalyses::all();
  }
};
} // namespace

void alula::cpu::prefetchNextRows(PassBuilder &builder) {
  builder.registerOptimizerLastEPCallback(
      [](ModulePassManager &passes, OptimizationLevel) {
        passes.addPass(createModuleToFunctionPassAdaptor(PrefetchNextRows()));
      });
}
