// Computes before a loop what each round would compute again.
//   while … do { %e = exponential %outside; … }  →  %e = …; while … do { … }
// Only what costs more than reading its result would, together with what it is
// made of: a broadcast alone is cheaper where it is read.

#include "compiler/optimize/passes.h"
#include "dialect/chlo/functions.h"
#include "dialect/stablehlo/access.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace alula::optimize {
#define GEN_PASS_DEF_HOISTINVARIANTS
#include "compiler/optimize/passes.h.inc"
} // namespace alula::optimize

using namespace mlir;

namespace {
bool isWorthIt(Operation *op) {
  using stablehlo::Access;
  if (stablehlo::isControlFlow(op) || stablehlo::reachesOutside(op))
    return false;
  return stablehlo::getElementCost(op) == stablehlo::Cost::Function ||
         stablehlo::readsAny(op, Access::Picked | Access::Scattered |
                                     Access::Window | Access::Reduced |
                                     Access::Contracted | Access::Sorted |
                                     Access::Whole);
}

class Hoister {
public:
  explicit Hoister(stablehlo::WhileOp loop) : loop(loop) {}

  void hoist() {
    for (Region &region : loop->getRegions())
      for (Operation &op : llvm::make_early_inc_range(region.front()))
        if (isWorthIt(&op) && isInvariant(&op))
          moveOut(&op);
  }

private:
  bool isInvariant(Operation *op) {
    auto [known, isNew] = invariant.try_emplace(op, false);
    if (!isNew)
      return known->second;
    bool result = !op->hasTrait<mlir::OpTrait::IsTerminator>() &&
                  isMemoryEffectFree(op) &&
                  chlo::isTensorOp(op);
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        result = result && isFromOutside(operand, op);
    });
    invariant[op] = result;
    return result;
  }

  /// Or from inside of `reader`, which moves as a whole.
  bool isFromOutside(Value value, Operation *reader) {
    Region *region = value.getParentRegion();
    if (!loop->isAncestor(region->getParentOp()) ||
        reader->isAncestor(region->getParentOp()))
      return true;
    Operation *op = value.getDefiningOp();
    return op && op->getBlock() == reader->getBlock() && isInvariant(op);
  }

  void moveOut(Operation *op) {
    SmallVector<Operation *> needed;
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Operation *producer = operand.getDefiningOp())
          if (producer->getBlock() == op->getBlock())
            needed.push_back(producer);
    });
    Block *block = op->getBlock();
    for (Operation *producer : needed)
      if (producer->getBlock() == block)
        moveOut(producer);
    op->moveBefore(loop);
  }

  stablehlo::WhileOp loop;
  DenseMap<Operation *, bool> invariant;
};

struct HoistInvariants
    : public alula::optimize::impl::HoistInvariantsBase<HoistInvariants> {
  void runOnOperation() override {
    // Inner loops first: what leaves them may leave the outer ones too.
    SmallVector<stablehlo::WhileOp> loops;
    getOperation().walk(
        [&](stablehlo::WhileOp loop) { loops.push_back(loop); });
    for (stablehlo::WhileOp loop : loops)
      Hoister(loop).hoist();
  }
};
} // namespace
