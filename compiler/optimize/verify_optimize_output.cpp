// Checks the exit of the optimize room: no known branches, no loop-carried
// values that are invariant or dead, no dead ops.

#include "compiler/optimize/loop_values.h"
#include "compiler/optimize/passes.h"
#include "dialect/chlo/functions.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace alula::optimize {
#define GEN_PASS_DEF_VERIFYOPTIMIZEOUTPUT
#include "compiler/optimize/passes.h.inc"
} // namespace alula::optimize

using namespace mlir;
using namespace alula::optimize;

namespace {
StringRef getProblem(Operation *op) {
  if (getKnownBranch(op))
    return "a branch that is known must have been taken";
  if (auto loop = dyn_cast<stablehlo::WhileOp>(op)) {
    unsigned carried = 0;
    for (unsigned i = 0; i < loop.getNumResults(); ++i)
      carried += isOnlyCarried(loop, i);
    if (carried && carried != loop.getNumResults())
      return "what a loop only carries must be outside";
  }
  if (chlo::isTensorOp(op) &&
      isOpTriviallyDead(op))
    return "what nobody reads must be gone";
  return {};
}

struct VerifyOptimizeOutput
    : public alula::optimize::impl::VerifyOptimizeOutputBase<
          VerifyOptimizeOutput> {
  void runOnOperation() override {
    WalkResult result = getOperation().walk([&](Operation *op) {
      StringRef problem = getProblem(op);
      if (problem.empty())
        return WalkResult::advance();
      op->emitError() << "'" << op->getName().getStringRef()
                      << "': " << problem;
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
