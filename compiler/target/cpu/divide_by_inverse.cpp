//   %y = fdiv <16 x float> %x, %s      ; %s is set before the loop
//   →  %q = fmul %x, %r                ; before the loop: %r = 1 / %s
//      %e = fma -%s, %q, %x
//      %y = fma %e, %r, %q
//
// With rounding to nearest, %y is the quotient rounded, unless something
// overflows or the remainder %e has too few bits: checked for all pairs of
// significands whose quotient is so near to the middle between two floats that
// the errors of %r, %q and %e could matter (Markstein; Brisebarre, Muller and
// Raina, "Accelerating correctly rounded floating-point division when the
// divisor is known in advance"). Exponents within the bounds below exclude the
// exceptions, and denormal remainders, for which some processors take long.
// +0 is divided right too, and is what masked scores are.

#include "compiler/target/cpu/divide_by_inverse.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace alula::cpu;

namespace {
/// Magnitudes from 2^least to 2^most.
struct Range {
  int least, most;
};
constexpr Range dividends{-76, 100}, divisors{-20, 20};
constexpr unsigned mantissaBits = 23, bias = 127;

/// Divisions by one divisor that follow each other before a quotient is used.
struct Run {
  /// Where the inverse is computed.
  llvm::Instruction *beforeLoop;
  llvm::SmallVector<llvm::BinaryOperator *> divisions;

  llvm::Value *getDivisor() const { return divisions.front()->getOperand(1); }
  bool feeds(const llvm::Instruction &op) const {
    return llvm::any_of(op.operands(), [&](const llvm::Use &operand) {
      return llvm::is_contained(divisions, operand.get());
    });
  }
};

bool isOfWideVectors(const llvm::Instruction &op) {
  // Narrower ones are divided as fast as they are multiplied three times.
  constexpr unsigned lanes = 16;
  auto *type = llvm::dyn_cast<llvm::FixedVectorType>(op.getType());
  return op.getOpcode() == llvm::Instruction::FDiv && type &&
         type->getElementType()->isFloatTy() && type->getNumElements() == lanes;
}

void findRuns(llvm::BasicBlock &block, const llvm::Loop &loop,
              llvm::SmallVectorImpl<Run> &runs) {
  llvm::Instruction *beforeLoop = loop.getLoopPreheader()->getTerminator();
  Run run{beforeLoop, {}};
  auto end = [&] {
    if (!run.divisions.empty())
      runs.push_back(std::move(run));
    run = {beforeLoop, {}};
  };
  for (llvm::Instruction &op : block) {
    bool isOne = isOfWideVectors(op) && loop.isLoopInvariant(op.getOperand(1));
    if (run.feeds(op) || (isOne && !run.divisions.empty() &&
                          run.getDivisor() != op.getOperand(1)))
      end();
    if (isOne)
      run.divisions.push_back(llvm::cast<llvm::BinaryOperator>(&op));
  }
  end();
}

/// Lanes whose magnitude is not within the range.
llvm::Value *isOutside(llvm::IRBuilder<> &b, llvm::Value *bits, Range range) {
  auto encode = [](int exponent) {
    return uint32_t(exponent + int(bias)) << mantissaBits;
  };
  llvm::Type *type = bits->getType();
  llvm::Value *magnitude = b.CreateAnd(bits, 0x7fffffff);
  llvm::Value *beyond =
      b.CreateSub(magnitude, llvm::ConstantInt::get(type, encode(range.least)));
  return b.CreateICmpUGT(
      beyond,
      llvm::ConstantInt::get(type, encode(range.most) - encode(range.least)));
}

void replace(const Run &run) {
  llvm::Value *divisor = run.getDivisor();
  auto *type = llvm::cast<llvm::FixedVectorType>(divisor->getType());
  llvm::IRBuilder<> b(run.beforeLoop);
  llvm::Type *bitsType = b.getIntNTy(type->getNumElements());
  // Lanes that are not read may be anything, which nobody may branch on.
  auto toBits = [&](llvm::Value *number) {
    return b.CreateFreeze(
        b.CreateBitCast(number, llvm::VectorType::getInteger(type)));
  };
  llvm::Value *inverse =
      b.CreateFDiv(llvm::ConstantFP::get(type, 1.0), divisor);
  llvm::Value *negated = b.CreateFNeg(divisor);
  llvm::Value *unfit =
      b.CreateBitCast(isOutside(b, toBits(divisor), divisors), bitsType);

  b.SetInsertPoint(run.divisions.back()->getNextNode());
  auto fma = [&](llvm::Value *x, llvm::Value *y, llvm::Value *z) {
    return b.CreateIntrinsic(llvm::Intrinsic::fma, {type}, {x, y, z});
  };
  llvm::SmallVector<llvm::Value *> quotients;
  llvm::Value *unfitLanes = nullptr;
  for (llvm::BinaryOperator *division : run.divisions) {
    llvm::Value *dividend = division->getOperand(0);
    llvm::Value *near = b.CreateFMul(dividend, inverse);
    llvm::Value *remainder = fma(negated, near, dividend);
    quotients.push_back(fma(remainder, inverse, near));
    llvm::Value *bits = toBits(dividend);
    llvm::Value *isUnfit =
        b.CreateAnd(isOutside(b, bits, dividends), b.CreateIsNotNull(bits));
    unfitLanes = unfitLanes ? b.CreateOr(unfitLanes, isUnfit) : isUnfit;
  }
  unfit = b.CreateOr(b.CreateBitCast(unfitLanes, bitsType), unfit);
  llvm::Instruction *next = &*b.GetInsertPoint();
  llvm::Instruction *divide = llvm::SplitBlockAndInsertIfThen(
      b.CreateIsNotNull(unfit), next, /*Unreachable=*/false,
      llvm::MDBuilder(b.getContext()).createUnlikelyBranchWeights());
  llvm::BasicBlock *before = divide->getParent()->getSinglePredecessor();
  for (auto [division, quotient] : llvm::zip(run.divisions, quotients)) {
    b.SetInsertPoint(next->getParent(), next->getParent()->begin());
    llvm::PHINode *either = b.CreatePHI(type, 2);
    division->replaceAllUsesWith(either);
    division->moveBefore(divide);
    either->addIncoming(quotient, before);
    either->addIncoming(division, divide->getParent());
  }
}

/// Short loops: while they divide, a processor goes on with what comes after
/// them, so more instructions are no gain.
bool isShort(const llvm::Loop &loop, unsigned divisions,
             llvm::ScalarEvolution &evolution) {
  constexpr unsigned leastDivisions = 48;
  unsigned steps = evolution.getSmallConstantTripCount(&loop);
  return steps && uint64_t(steps) * divisions < leastDivisions;
}

struct DivideByInverse : llvm::PassInfoMixin<DivideByInverse> {
  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &analyses) {
    if (llvm::none_of(llvm::instructions(function), isOfWideVectors))
      return llvm::PreservedAnalyses::all();
    auto &loops = analyses.getResult<llvm::LoopAnalysis>(function);
    auto &evolution =
        analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
    llvm::SmallVector<Run> runs;
    for (llvm::BasicBlock &block : function) {
      const llvm::Loop *loop = loops.getLoopFor(&block);
      if (!loop || !loop->getLoopPreheader() ||
          isShort(*loop, llvm::count_if(block, isOfWideVectors), evolution))
        continue;
      findRuns(block, *loop, runs);
    }
    for (const Run &run : runs)
      replace(run);
    return runs.empty() ? llvm::PreservedAnalyses::all()
                        : llvm::PreservedAnalyses::none();
  }
};
} // namespace

void alula::cpu::divideByInverse(llvm::PassBuilder &builder) {
  builder.registerOptimizerLastEPCallback([](llvm::ModulePassManager &passes,
                                             llvm::OptimizationLevel) {
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(DivideByInverse()));
  });
}
