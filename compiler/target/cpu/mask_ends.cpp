//   for (i < 1019) s += x[i];
//   →  for (i < 960; i += 64) four sums += four vectors at x[i];
//      three sums += three vectors at x[960];
//      the fourth += 11 numbers at x[1008], masked
//
// LLVM's vectorizer folds the tail: it masks every iteration if it is asked to.
// The last iteration is then peeled off, since masks are all true before it.

#include "compiler/target/cpu/mask_ends.h"

#include "compiler/target/cpu/masked_loop.h"
#include "compiler/target/cpu/prefetch_rows.h"

#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/IVDescriptors.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/VFABIDemangler.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Vectorize/LoopVectorize.h"

using namespace alula::cpu;
using namespace llvm;

namespace {
/// Shorter loops are unrolled; in longer ones the tail is negligible.
constexpr uint64_t leastSteps = 5, mostSteps = 8192;
/// LLVM doesn't unroll longer loops.
constexpr uint64_t mostWrittenOut = 128;
constexpr unsigned mostChains = 4;
constexpr const char *mark = "alula.mask_end";

/// What the vectorizer would do with a loop.
class Candidate {
public:
  Candidate(Loop &loop, ScalarEvolution &evolution,
            const TargetTransformInfo &target)
      : loop(loop), evolution(evolution), target(target),
        layout(loop.getHeader()->getDataLayout()) {}

  /// The vectorizer does not interleave loops that are marked as unrolled,
  /// unless it is told how many vectors to interleave.
  void keepIfShort() {
    if (!isVectors() || steps > mostWrittenOut)
      return;
    addStringMetadataToLoop(&loop, "llvm.loop.interleave.count", countChains());
    loop.setLoopAlreadyUnrolled();
  }

  /// Asks for masks if the trip count leaves a tail.
  bool markIfWorthIt() {
    if (getBooleanLoopAttribute(&loop, mark) || !isVectors() ||
        steps % (lanes * countChains()) == 0)
      return false;
    addStringMetadataToLoop(&loop, mark, 1);
    addStringMetadataToLoop(&loop, "llvm.loop.vectorize.predicate.enable", 1);
    addStringMetadataToLoop(&loop, "llvm.loop.interleave.count", countChains());
    return true;
  }

private:
  /// Whether the loop is worth vectorizing; finds trip count and lanes.
  bool isVectors() {
    if (!loop.isInnermost() || loop.getNumBlocks() != 1 ||
        !loop.getLoopPreheader())
      return false;
    steps = evolution.getSmallConstantTripCount(&loop);
    if (steps < leastSteps || steps > mostSteps || !isSimple() || !widest)
      return false;
    lanes =
        target.getRegisterBitWidth(TargetTransformInfo::RGK_FixedWidthVector)
            .getFixedValue() /
        widest;
    // Half a vector is still better than scalars.
    return lanes >= 2 && steps * 2 > lanes;
  }

  bool isSimple() {
    for (PHINode &phi : loop.getHeader()->phis()) {
      if (isa_and_nonnull<SCEVAddRecExpr>(getEvolution(phi)))
        continue;
      RecurrenceDescriptor descriptor;
      if (!RecurrenceDescriptor::isReductionPHI(&phi, &loop, descriptor))
        return false;
      ++reductions;
      widen(phi.getType());
    }
    // A masked store is not forwarded to a load of the same place.
    return llvm::all_of(*loop.getHeader(),
                        [&](Instruction &instruction) {
                          return isSimple(instruction);
                        }) &&
           llvm::none_of(written, [&](const SCEV *place) {
             return read.contains(place);
           });
  }

  bool isSimple(Instruction &instruction) {
    if (auto *call = dyn_cast<CallInst>(&instruction)) {
      Intrinsic::ID id = call->getIntrinsicID();
      return isTriviallyVectorizable(id) ||
             (call->doesNotAccessMemory() &&
              call->hasFnAttr(VFABI::MappingsAttrName));
    }
    // Masked, these are scalarized.
    if (instruction.isIntDivRem())
      return false;
    Value *address = getLoadStorePointerOperand(&instruction);
    if (!address)
      return !instruction.mayReadOrWriteMemory();
    Type *type = getLoadStoreType(&instruction);
    bool isLoad = isa<LoadInst>(instruction);
    widen(type);
    (isLoad ? read : written).insert(getEvolution(*address));
    return !instruction.isVolatile() && !instruction.isAtomic() &&
           isConsecutive(address, type) &&
           (isLoad ? target.isLegalMaskedLoad(type, Align(1))
                   : target.isLegalMaskedStore(type, Align(1)));
  }

  bool isConsecutive(Value *address, Type *type) {
    auto *recurrence = dyn_cast_or_null<SCEVAddRecExpr>(getEvolution(*address));
    if (!recurrence || recurrence->getLoop() != &loop)
      return false;
    auto *step =
        dyn_cast<SCEVConstant>(recurrence->getStepRecurrence(evolution));
    return step && step->getAPInt() == layout.getTypeStoreSize(type);
  }

  const SCEV *getEvolution(Value &value) {
    return evolution.isSCEVable(value.getType()) ? evolution.getSCEV(&value)
                                                 : nullptr;
  }

  void widen(Type *type) {
    widest = std::max<uint64_t>(widest, layout.getTypeSizeInBits(type));
  }

  /// The interleave count, i.e. how many accumulators a reduction has: with
  /// masks the vectorizer would choose 1.
  unsigned countChains() {
    uint64_t vectors = divideCeil(steps, lanes);
    unsigned most = reductions <= 3 ? mostChains : mostChains / 2;
    if (auto asked =
            getOptionalIntLoopAttribute(&loop, "llvm.loop.interleave.count"))
      most = *asked;
    return std::min<uint64_t>(most, llvm::bit_floor(vectors));
  }

  Loop &loop;
  ScalarEvolution &evolution;
  const TargetTransformInfo &target;
  const DataLayout &layout;
  uint64_t widest = 0, steps = 0, lanes = 0;
  unsigned reductions = 0;
  SmallPtrSet<const SCEV *, 4> read, written;
};

/// LLVM unrolls short loops fully before it vectorizes, and then vectorizes the
/// outer loop with strided accesses.
struct KeepShort : PassInfoMixin<KeepShort> {
  PreservedAnalyses run(Loop &loop, LoopAnalysisManager &,
                        LoopStandardAnalysisResults &analyses, LPMUpdater &) {
    if (hasUnrollTransformation(&loop) == TM_Unspecified)
      Candidate(loop, analyses.SE, analyses.TTI).keepIfShort();
    return PreservedAnalyses::all();
  }
};

struct MaskEnds : PassInfoMixin<MaskEnds> {
  PreservedAnalyses run(Function &function, FunctionAnalysisManager &analyses) {
    auto &target = analyses.getResult<TargetIRAnalysis>(function);
    auto &evolution = analyses.getResult<ScalarEvolutionAnalysis>(function);
    auto &dominators = analyses.getResult<DominatorTreeAnalysis>(function);
    auto &assumptions = analyses.getResult<AssumptionAnalysis>(function);
    auto &loops = analyses.getResult<LoopAnalysis>(function);
    // As the vectorizer does.
    for (Loop *loop : loops.getTopLevelLoops())
      simplifyLoop(loop, &dominators, &loops, &evolution, &assumptions, nullptr,
                   /*PreserveLCSSA=*/false);
    bool isMarked = false;
    for (Loop *loop : loops.getLoopsInPreorder())
      isMarked |= Candidate(*loop, evolution, target).markIfWorthIt();
    if (!isMarked) {
      PreservedAnalyses preserved;
      preserved.preserve<DominatorTreeAnalysis>();
      preserved.preserve<LoopAnalysis>();
      preserved.preserve<ScalarEvolutionAnalysis>();
      return preserved;
    }
    analyses.invalidate(function, LoopVectorizePass().run(function, analyses));
    auto &evolutionNow = analyses.getResult<ScalarEvolutionAnalysis>(function);
    std::vector<MaskedLoop> masked;
    for (Loop *loop :
         analyses.getResult<LoopAnalysis>(function).getLoopsInPreorder())
      if (getBooleanLoopAttribute(loop, "llvm.loop.isvectorized")) {
        // Rows of a table that are no multiple of a vector have such tails.
        prefetchRow(*loop, evolutionNow);
        if (auto found = MaskedLoop::find(*loop)) {
          masked.push_back(std::move(*found));
          // As other loops of vectors: see limit_unrolling.h.
          loop->setLoopAlreadyUnrolled();
        }
      }
    for (MaskedLoop &loop : masked)
      loop.cut();
    return PreservedAnalyses::none();
  }
};
} // namespace

void alula::cpu::maskEnds(PassBuilder &builder, const Machine &machine) {
  if (!machine.facts.hasMasks)
    return;
  builder.registerLateLoopOptimizationsEPCallback(
      [](LoopPassManager &passes, OptimizationLevel) {
        passes.addPass(KeepShort());
      });
  builder.registerVectorizerStartEPCallback(
      [](FunctionPassManager &passes, OptimizationLevel) {
        passes.addPass(MaskEnds());
      });
}
