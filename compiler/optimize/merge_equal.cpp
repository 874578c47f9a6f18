// Ops that compute the same become one: CSE, as MLIR has it.
//   %0 = reduce %x; sharding_constraint %0; %1 = reduce %x
// Two stay two where one of them is told how it lies on the devices: the other
// has a sharding of its own.

#include "compiler/optimize/passes.h"
#include "dialect/sdy/ops.h"

#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"

namespace alula::optimize {
#define GEN_PASS_DEF_MERGEEQUAL
#include "compiler/optimize/passes.h.inc"
} // namespace alula::optimize

using namespace mlir;

namespace {
struct MergeEqual : public alula::optimize::impl::MergeEqualBase<MergeEqual> {
  void runOnOperation() override {
    constexpr StringRef mark = "optimize.constrained";
    OpBuilder builder(&getContext());
    int64_t count = 0;
    getOperation()->walk([&](sdy::ShardingConstraintOp constraint) {
      Operation *op = constraint.getInput().getDefiningOp();
      if (!op || op->hasAttr(mark))
        return;
      op->setAttr(mark, builder.getI64IntegerAttr(count++));
    });
    IRRewriter rewriter(&getContext());
    DominanceInfo dominance(getOperation());
    eliminateCommonSubExpressions(rewriter, dominance, getOperation());
    if (count)
      getOperation()->walk([&](Operation *op) { op->removeAttr(mark); });
  }
};
} // namespace
