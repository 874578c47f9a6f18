// Does at once what a program starts and waits for later.
//
//   %f = async_start(%x) { … return %y };  %z = async_done(%f)  →  … %y for %z
//
// A future that goes elsewhere, into a call or out of a branch, is left.

#include "dialect/stablehlo/ops.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"

namespace alula::input {
#define GEN_PASS_DEF_INPUTLOWERASYNC
#include "compiler/input/passes.h.inc"
} // namespace alula::input

using namespace mlir;

namespace {
void lowerAsync(stablehlo::AsyncStartOp start, IRRewriter &rewriter) {
  auto isEnd = [](Operation *user) {
    return isa<stablehlo::AsyncDoneOp>(user);
  };
  if (!llvm::all_of(start->getUsers(), isEnd))
    return;
  Block &body = start.getBody().front();
  Operation *end = body.getTerminator();
  SmallVector<Value> results(end->getOperands());
  for (Value &result : results)
    if (auto argument = dyn_cast<BlockArgument>(result))
      if (argument.getOwner() == &body)
        result = start->getOperand(argument.getArgNumber());
  rewriter.eraseOp(end);
  rewriter.inlineBlockBefore(&body, start, start->getOperands());
  for (Operation *done : llvm::make_early_inc_range(start->getUsers()))
    rewriter.replaceOp(done, results);
  rewriter.eraseOp(start);
}

struct LowerAsync : public alula::input::impl::InputLowerAsyncBase<LowerAsync> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    // The walk would stumble over the ends.
    SmallVector<stablehlo::AsyncStartOp> starts;
    getOperation().walk(
        [&](stablehlo::AsyncStartOp start) { starts.push_back(start); });
    for (stablehlo::AsyncStartOp start : starts)
      lowerAsync(start, rewriter);
  }
};
} // namespace
