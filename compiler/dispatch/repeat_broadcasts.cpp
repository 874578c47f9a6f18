// Gives each op that maps elements a broadcast of its own.
//   %b = broadcast_in_dim %x; add %y, %b; multiply %z, %b
// Reading the few elements of %x again costs less than writing %b down for two
// kernels. Others, a product say, share what is in memory.

#include "compiler/dispatch/passes.h"
#include "dialect/stablehlo/access.h"
#include "dialect/stablehlo/element_rules.h"
#include "dialect/stablehlo/ops.h"

#include "llvm/ADT/SetVector.h"

namespace alula::dispatch {
#define GEN_PASS_DEF_REPEATBROADCASTS
#include "compiler/dispatch/passes.h.inc"
} // namespace alula::dispatch

using namespace mlir;

namespace {
/// Makes more elements than it reads.
bool isRepeatable(Operation *op) {
  if (op->getNumResults() != 1 || op->hasTrait<mlir::OpTrait::ConstantLike>() ||
      !stablehlo::readsOnly(op, stablehlo::Access::Repeated))
    return false;
  auto to = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  return to && to.hasStaticShape() &&
         llvm::all_of(op->getOperandTypes(), [&](Type type) {
           auto from = cast<RankedTensorType>(type);
           return from.hasStaticShape() &&
                  from.getNumElements() < to.getNumElements();
         });
}

struct RepeatBroadcasts
    : public alula::dispatch::impl::RepeatBroadcastsBase<RepeatBroadcasts> {
  void runOnOperation() override {
    SmallVector<Operation *> repeatable;
    getOperation().walk([&](Operation *op) {
      if (!op->hasOneUse() && isRepeatable(op))
        repeatable.push_back(op);
    });
    for (Operation *op : repeatable)
      repeat(op);
  }

  /// The last user keeps the op, unless somebody else needs it.
  void repeat(Operation *op) {
    llvm::SmallSetVector<Operation *, 4> maps, others;
    for (Operation *user : op->getUsers())
      (stablehlo::isElementwise(user) && user->getBlock() == op->getBlock()
           ? maps
           : others)
          .insert(user);
    if (others.empty() && !maps.empty())
      maps.pop_back();
    OpBuilder builder(op);
    for (Operation *user : maps)
      user->replaceUsesOfWith(op->getResult(0),
                              builder.clone(*op)->getResult(0));
  }
};
} // namespace
