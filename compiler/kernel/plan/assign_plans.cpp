// Decides how each kernel is computed, and writes it on its ops.
//   %0 = stablehlo.exponential %x : tensor<1024x1024xf32>
//   →  %0 = stablehlo.exponential %x {plan.stage = #plan.stage<map 0, space =
//   [1024, 1024]>}

#include "compiler/kernel/plan/fill_order.h"
#include "compiler/kernel/plan/forms.h"
#include "compiler/kernel/plan/inline_plan.h"
#include "compiler/kernel/plan/passes.h"
#include "compiler/kernel/plan/plan.h"
#include "compiler/kernel/plan/tiles.h"
#include "compiler/kernel/plan/ways.h"

#include "compiler/kernel/element/sum_types.h"
#include "dialect/dispatch/machine.h"
#include "dialect/dispatch/ops.h"
#include "dialect/stablehlo/ops.h"

namespace alula::kernel {
#define GEN_PASS_DEF_ASSIGNPLANS
#include "compiler/kernel/plan/passes.h.inc"
} // namespace alula::kernel

using namespace mlir;
using namespace alula::kernel;
using alula::plan::GridAttr;
using alula::plan::Kind;
using alula::plan::Memory;
using alula::plan::StageAttr;
using alula::plan::Way;

namespace {
/// Terms of one sum of floats: errors add up.
constexpr int64_t maxTerms = 1024;

class BlockPlanner {
public:
  explicit BlockPlanner(Block &block)
      : block(block), attentions(planAttentions(block)),
        inlined(planInlining(block)),
        epilogues(planEpilogues(block, inlined, attentions)),
        nests(planRowNests(block, inlined, epilogues, attentions)) {}

  void run() {
    for (Operation &op : block) {
      if (needsStage(&op)) {
        op.setDiscardableAttr(alula::plan::stageName, plan(&op));
        numbers[&op] = current;
      }
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          if (needsPlan(inner))
            BlockPlanner(inner).run();
    }
    DenseSet<Operation *> hasNoMemory = readPlan(block).inlined;
    for (Operation &op : block)
      addFillOrder(&op, hasNoMemory);
  }

private:
  struct Sizes {
    SmallVector<int64_t> tile = {};
    Memory memory = Memory::Unsaid;
    int64_t parts = 0, terms = 0;
    bool fused = false;
    Way way = Way::Unsaid;
  };

  Attribute plan(Operation *op) {
    if (const alula::dispatch::Attention *attention = attentions.find(op)) {
      auto [number, isNew] = attentionNumbers.try_emplace(attention, next);
      next += isNew;
      current = number->second;
      return StageAttr::get(op->getContext(), Kind::Attention, current, {}, {},
                            Memory::Unsaid, 0, 0, false, Way::Unsaid);
    }
    if (const RowNest *nest = nests.find(op)) {
      auto [number, isNew] = nestNumbers.try_emplace(nest, next);
      next += isNew;
      current = number->second;
      return make(op, Kind::Rows, current,
                  {.memory = nest->memory.lookup(op),
                   .parts = chooseParts(op, *nest),
                   .fused = nest->fused.contains(op)});
    }
    Operation *owner = epilogues.ownerOf.lookup(op);
    if (owner && owner != op) {
      current = numbers.lookup(owner);
      return StageAttr::get(op->getContext(), Kind::Epilogue, current, {}, {},
                            Memory::Unsaid, 0, 0, false, Way::Unsaid);
    }
    if (inlined.contains(op))
      return StageAttr::get(op->getContext(), Kind::Inline, -1, {}, {},
                            Memory::Unsaid, 0, 0, false, Way::Unsaid);
    current = next++;
    return make(op, getOwnKind(op), current, chooseSizes(op));
  }

  /// Says in which order a map is written, where that isn't row-major.
  void addFillOrder(Operation *op, const DenseSet<Operation *> &hasNoMemory) {
    if (alula::dispatch::getMachine(op).blockThreads > 1)
      return;
    StageAttr stage = getStage(op);
    bool isReturned = llvm::is_contained(op->getUsers(), block.getTerminator());
    if (!stage || !(stage.getKind() == Kind::Map ||
                    (stage.getKind() == Kind::Inline && isReturned)))
      return;
    FillOrder order = planFillOrder(op, hasNoMemory);
    if (!order.tile.empty())
      op->setDiscardableAttr(alula::plan::stageName,
                             StageAttr::get(op->getContext(), stage.getKind(),
                                            stage.getNumber(), stage.getSpace(),
                                            order.tile, Memory::Unsaid, 0, 0,
                                            false, order.way));
  }

  static Attribute make(Operation *op, Kind kind, int64_t number,
                        const Sizes &sizes) {
    return StageAttr::get(op->getContext(), kind, number, getSpace(op),
                          sizes.tile, sizes.memory, sizes.parts, sizes.terms,
                          sizes.fused, sizes.way);
  }

  Sizes chooseSizes(Operation *op) {
    Operation *last = epilogues.lastOf.lookup(op);
    TileQuestion question{inlined, last ? last : op};
    // Threads go over single elements.
    if (alula::dispatch::getMachine(op).blockThreads > 1) {
      auto reduce = dyn_cast<stablehlo::ReduceOp>(op);
      if (reduce && getFloatSumType(op, reduce.getBody().front()))
        return {.terms = maxTerms};
      return reduce ? Sizes() : Sizes{.way = chooseWay(op)};
    }
    if (auto dot = dyn_cast<stablehlo::DotGeneralOp>(op))
      return worksInBlocks(op) ? Sizes{.tile = chooseTile(dot, question)}
                               : Sizes();
    if (auto convolution = dyn_cast<stablehlo::ConvolutionOp>(op))
      return worksInBlocks(op) || isWindowProduct(convolution)
                 ? Sizes{.tile = chooseTile(convolution, question)}
                 : Sizes();
    auto reduce = dyn_cast<stablehlo::ReduceOp>(op);
    if (!reduce)
      return {.way = chooseWay(op)};
    if (reducesColumns(reduce))
      return {.tile = chooseTile(reduce, question)};
    if (getFloatSumType(op, reduce.getBody().front()))
      return {.terms = maxTerms};
    if (int64_t parts = chooseParts(reduce))
      return {.parts = parts};
    return {.tile = chooseRowsTogether(reduce)};
  }

  /// As many rows as a vector has lanes, where one row is a chain of steps that
  /// wait for each other: a body of one op becomes vectors along the row, and
  /// the shortest rows are unrolled.
  static SmallVector<int64_t> chooseRowsTogether(stablehlo::ReduceOp reduce) {
    constexpr int64_t minTerms = 9;
    int64_t lanes = alula::dispatch::getMachine(reduce).lanes;
    int64_t terms = cast<RankedTensorType>(reduce.getInputs()[0].getType())
                        .getShape()
                        .back();
    bool isChain = !llvm::hasNItems(reduce.getBody().front(), 2) &&
                   (ShapedType::isDynamic(terms) || terms >= minTerms);
    return isChain && mayReduceRowsTogether(reduce, lanes)
               ? SmallVector<int64_t>{lanes}
               : SmallVector<int64_t>();
  }

  /// Of a row, reduced side by side; 0: none.
  static int64_t chooseParts(stablehlo::ReduceOp reduce) {
    int64_t parts = alula::dispatch::getMachine(reduce).lanes;
    return mayReduceInParts(reduce, parts) ? parts : 0;
  }

  /// The same in a loop that others share: a body of one op becomes vectors
  /// without.
  static int64_t chooseParts(Operation *op, const RowNest &nest) {
    auto reduce = dyn_cast<stablehlo::ReduceOp>(op);
    if (!reduce || nest.fused.contains(op) ||
        alula::dispatch::getMachine(op).blockThreads > 1 ||
        llvm::hasNItems(reduce.getBody().front(), 2))
      return 0;
    return chooseParts(reduce);
  }

  Block &block;
  Attentions attentions;
  DenseMap<const alula::dispatch::Attention *, int64_t> attentionNumbers;
  DenseSet<Operation *> inlined;
  Epilogues epilogues;
  RowNests nests;
  DenseMap<const RowNest *, int64_t> nestNumbers;
  DenseMap<Operation *, int64_t> numbers;
  int64_t next = 0, current = -1;
};

struct AssignPlans : public alula::kernel::impl::AssignPlansBase<AssignPlans> {
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    ModuleOp module = getOperation().getInnerModule();
    for (auto entry :
         getOperation().getBody().getOps<alula::dispatch::EntryOp>()) {
      auto kernel = module.lookupSymbol<func::FuncOp>(entry.getSymName());
      // A tool may have made the loops already.
      if (!kernel || kernel.isExternal() || isPlanned(kernel) ||
          llvm::any_of(kernel.getArgumentTypes(), llvm::IsaPred<MemRefType>))
        continue;
      std::optional<int64_t> pinned;
      if (entry.getPinned())
        pinned = entry.getWorkgroups().front();
      planKernel(kernel, pinned);
    }
  }
};
} // namespace

GridAttr alula::kernel::getUsualGrid(Operation *op) {
  dispatch::MachineFacts machine = dispatch::getMachine(op);
  return GridAttr::get(op->getContext(), 0, machine.getMaxWorkgroups(),
                       machine.workgroupSteps);
}

void alula::kernel::planKernel(func::FuncOp kernel,
                               std::optional<int64_t> pinnedWorkgroups) {
  MLIRContext *context = kernel.getContext();
  kernel->setAttr(plan::gridName,
                  pinnedWorkgroups
                      ? GridAttr::get(context, *pinnedWorkgroups, 0, 0)
                      : getUsualGrid(kernel));
  if (needsPlan(kernel.front()))
    BlockPlanner(kernel.front()).run();
}
