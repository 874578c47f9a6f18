// Numbers the ops of a function that draw random numbers, so that each draws
// its own. One that runs again, in a loop, draws the same numbers again.

#include "compiler/dispatch/passes.h"
#include "dialect/dispatch/ops.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace alula::dispatch {
#define GEN_PASS_DEF_NUMBERRANDOMSTREAMS
#include "compiler/dispatch/passes.h.inc"
} // namespace alula::dispatch

using namespace mlir;

namespace {
struct NumberRandomStreams
    : public alula::dispatch::impl::NumberRandomStreamsBase<
          NumberRandomStreams> {
  void runOnOperation() override {
    Builder builder(&getContext());
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      int64_t next = 0;
      function.walk([&](stablehlo::RngOp op) {
        op->setAttr("dispatch.random_stream", builder.getI64IntegerAttr(next++));
      });
    }
  }
};
} // namespace
