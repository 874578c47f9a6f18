// Writes arithmetic that LLVM has no word for as several ops: rounded
// divisions, conversions of bf16. Minimum and maximum stay whole, since LLVM
// vectorizes reductions only by those.

#include "compiler/target/cpu/passes.h"

#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace alula::cpu {
#define GEN_PASS_DEF_EXPANDARITHMETIC
#include "compiler/target/cpu/passes.h.inc"
} // namespace alula::cpu

using namespace mlir;

namespace {
struct ExpandArithmetic
    : public alula::cpu::impl::ExpandArithmeticBase<ExpandArithmetic> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    arith::populateCeilFloorDivExpandOpsPatterns(patterns);
    arith::populateExpandBFloat16Patterns(patterns);
    // Blocks that are alike stay apart: of two branches for one thread, before
    // a loop and at its end, one would be made that leads into the middle of
    // it, and threads would wait for each other at different copies of a
    // barrier.
    GreedyRewriteConfig config;
    config.enableRegionSimplification = GreedySimplifyRegionLevel::Normal;
    if (failed(applyPatternsAndFoldGreedily(getOperation(), std::move(patterns),
                                            config)))
      signalPassFailure();
  }
};
} // namespace
