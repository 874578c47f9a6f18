// Checks the exit of the dispatch room: the host launches, decides and counts,
// and each entry has a body.

#include "compiler/dispatch/passes.h"
#include "dialect/dispatch/collectives.h"
#include "dialect/dispatch/ops.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace alula::dispatch {
#define GEN_PASS_DEF_VERIFYDISPATCHOUTPUT
#include "compiler/dispatch/passes.h.inc"
} // namespace alula::dispatch

using namespace mlir;
using namespace alula::dispatch;

namespace {
bool isHostOp(Operation *op) {
  return isa<ModuleOp, ml_program::GlobalOp, func::FuncOp, func::ReturnOp,
             LaunchOp, ViewOp, CollectiveOp, ParticipantOp,
             stablehlo::ConstantOp, stablehlo::WhileOp, stablehlo::IfOp,
             stablehlo::CaseOp, stablehlo::ReturnOp, stablehlo::AfterAllOp,
             stablehlo::CreateTokenOp, stablehlo::OptimizationBarrierOp,
             stablehlo::CustomCallOp, tensor::DimOp, tensor::ExtractOp,
             AssertOp, cf::AssertOp, func::CallOp, UnrealizedConversionCastOp>(
             op) ||
         isa<arith::ArithDialect>(op->getDialect());
}

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
          if (isHostOp(op))
            return WalkResult::advance();
          op->emitError() << "'" << op->getName().getStringRef()
                          << "': no native code: on the host";
          return WalkResult::interrupt();
        });
    if (result.wasInterrupted())
      signalPassFailure();
  }

  static LogicalResult verifyExecutable(ExecutableOp executable) {
    // Whether objects have all the code is seen when they are read.
    if (executable.isExternal())
      return success();
    ModuleOp inner = executable.getInnerModule();
    for (auto entry : executable.getBody().getOps<EntryOp>())
      if (!inner.lookupSymbol<func::FuncOp>(entry.getSymName()))
        return entry.emitError() << "'dispatch.entry': has no body: @"
                                 << entry.getSymName();
    return success();
  }
};
} // namespace
