// Turns host functions on tensors into commands on slots.
//   %1 = dispatch.launch @e::@k(%0) : (tensor<4xf32>) -> tensor<4xf32>
//   →  dispatch.run @e::@k(%slot0, %slot1)
// Checks first that nothing else is there; `command_converter.h` does the rest.

#include "compiler/schedule/command_converter.h"
#include "compiler/schedule/passes.h"
#include "dialect/dispatch/collectives.h"
#include "dialect/dispatch/element_type.h"
#include "dialect/dispatch/ops.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace alula::schedule {
#define GEN_PASS_DEF_CONVERTTENSORSTOCOMMANDS
#include "compiler/schedule/passes.h.inc"
} // namespace alula::schedule

using namespace mlir;
using namespace alula::dispatch;
using namespace alula::schedule;
using alula::dispatch::ViewOp;

namespace {
LogicalResult checkOps(func::FuncOp function) {
  if (!function.getBody().hasOneBlock())
    return function.emitError()
           << "'func.func': body must be one block: @" << function.getSymName();
  for (TypeRange types :
       {function.getArgumentTypes(), function.getResultTypes()})
    for (Type type : types)
      if (!isa<RankedTensorType, stablehlo::TokenType>(type))
        return function.emitError()
               << "'func.func': no native code: values of type " << type;
  WalkResult result = function.walk([&](Operation *op) -> WalkResult {
    bool isKnown =
        isa<func::FuncOp, func::ReturnOp, func::CallOp, LaunchOp, ViewOp,
            stablehlo::ConstantOp, stablehlo::WhileOp, stablehlo::IfOp,
            stablehlo::CaseOp, stablehlo::ReturnOp, stablehlo::AfterAllOp,
            stablehlo::OptimizationBarrierOp, stablehlo::CreateTokenOp,
            stablehlo::CustomCallOp, CollectiveStartOp, CollectiveDoneOp,
            ParticipantOp, tensor::DimOp, tensor::ExtractOp, AssertOp,
            cf::AssertOp, UnrealizedConversionCastOp>(op) ||
        isa<arith::ArithDialect>(op->getDialect());
    if (!isKnown) {
      op->emitError() << "'" << op->getName().getStringRef()
                      << "': no native code: on the host";
      return WalkResult::interrupt();
    }
    auto checkTypes = [&](TypeRange types) {
      for (Type type : types)
        if (auto tensor = dyn_cast<TensorType>(type))
          if (!isa<RankedTensorType>(tensor) ||
              !getDtype(tensor.getElementType())) {
            op->emitError() << "'" << op->getName().getStringRef()
                            << "': no native code: values of type " << type;
            return false;
          }
      return true;
    };
    bool isFine = checkTypes(op->getResultTypes());
    if (isa<arith::ArithDialect>(op->getDialect()) &&
        llvm::any_of(op->getResultTypes(), llvm::IsaPred<TensorType>)) {
      op->emitError() << "'" << op->getName().getStringRef()
                      << "': no native code: on tensors on the host";
      return WalkResult::interrupt();
    }
    for (Region &region : op->getRegions())
      isFine = isFine && checkTypes(region.front().getArgumentTypes());
    return isFine ? WalkResult::advance() : WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

struct ConvertTensorsToCommands
    : public alula::schedule::impl::ConvertTensorsToCommandsBase<
          ConvertTensorsToCommands> {
  void runOnOperation() override {
    // Whether a call gives memory away is read from its callee.
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && (failed(checkOps(function)) ||
                                     failed(CommandConverter(function).run())))
        return signalPassFailure();
  }
};
} // namespace
