// Checks the exit of the dispatch room: the host only launches, each entry has
// a body, and no StableHLO is left in kernels.

#include "compiler/dispatch/passes.h"
#include "dialect/dispatch/ops.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace alula::dispatch {
#define GEN_PASS_DEF_VERIFYDISPATCHOUTPUT
#include "compiler/dispatch/passes.h.inc"
} // namespace alula::dispatch

using namespace mlir;
using namespace alula::dispatch;

namespace {
struct VerifyDispatchOutput
    : public alula::dispatch::impl::VerifyDispatchOutputBase<
          VerifyDispatchOutput> {
  void runOnOperation() override {
    WalkResult result = getOperation().walk<WalkOrder::PreOrder>(
        [&](Operation *op) -> WalkResult {
          if (auto executable = dyn_cast<ExecutableOp>(op))
            return succeeded(verifyExecutable(executable))
                       ? WalkResult::skip()
                       : WalkResult::interrupt();
          if (isa<ModuleOp, func::FuncOp, func::ReturnOp, LaunchOp,
                  stablehlo::ConstantOp>(op))
            return WalkResult::advance();
          op->emitError() << "'" << op->getName().getStringRef()
                          << "': no native code: on the host";
          return WalkResult::interrupt();
        });
    if (result.wasInterrupted())
      signalPassFailure();
  }

  static LogicalResult verifyExecutable(ExecutableOp executable) {
    ModuleOp inner = executable.getInnerModule();
    for (auto entry : executable.getBody().getOps<EntryOp>())
      if (!inner.lookupSymbol<func::FuncOp>(entry.getSymName()))
        return entry.emitError() << "'dispatch.entry': has no body: @"
                                 << entry.getSymName();
    WalkResult result = inner.walk([](Operation *op) {
      if (!isa<stablehlo::StablehloDialect>(op->getDialect()))
        return WalkResult::advance();
      op->emitError() << "'" << op->getName().getStringRef()
                      << "': left in a kernel";
      return WalkResult::interrupt();
    });
    return failure(result.wasInterrupted());
  }
};
} // namespace
