// Rewrites the kernels of an executable from StableHLO to linalg on tensors.
//   stablehlo.add %a, %b  →  linalg.generic {arith.addf}
// What has no lowering is an error at the op's own location.

#include "compiler/dispatch/lowering.h"
#include "compiler/dispatch/passes.h"
#include "dialect/dispatch/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace alula::dispatch {
#define GEN_PASS_DEF_CONVERTSTABLEHLOTOLINALG
#include "compiler/dispatch/passes.h.inc"
} // namespace alula::dispatch

using namespace mlir;
using namespace alula::dispatch;

namespace {
/// Lowered types, or failure with a diagnostic at `op`.
FailureOr<SmallVector<Type>> lowerTypes(Operation *op, TypeRange types) {
  SmallVector<Type> lowered;
  for (Type type : types) {
    lowered.push_back(lowerType(type));
    if (!lowered.back())
      return declineOp(op, "for values of type " + debugString(type));
  }
  return lowered;
}

LogicalResult lowerOp(Operation &op, Lowering &lowering) {
  LowerFunction lower = findLowering(&op);
  if (!lower)
    return declineOp(&op, "for this op");
  if (failed(lowerTypes(&op, op.getOperandTypes())) ||
      failed(lowerTypes(&op, op.getResultTypes())))
    return failure();
  return lower(&op, lowering);
}

LogicalResult lowerFunction(func::FuncOp function) {
  Block *source = &function.front();
  // An argument without a native type is an error of the first op that reads
  // it, which says more than the signature does.
  SmallVector<Type> arguments;
  for (Type type : source->getArgumentTypes())
    arguments.push_back(lowerType(type));
  Block *target = new Block();
  function.getBody().push_back(target);
  auto builder = OpBuilder::atBlockEnd(target);
  Lowering lowering(builder);
  for (auto [argument, type] :
       llvm::zip_equal(source->getArguments(), arguments))
    if (type)
      lowering.set(argument, target->addArgument(type, argument.getLoc()));
  for (Operation &op : source->without_terminator())
    if (failed(lowerOp(op, lowering)))
      return failure();

  SmallVector<Value> results;
  for (Value result : source->getTerminator()->getOperands())
    results.push_back(lowering.get(result));
  builder.create<func::ReturnOp>(source->getTerminator()->getLoc(), results);
  function.setType(
      builder.getFunctionType(arguments, TypeRange(ValueRange(results))));
  source->dropAllReferences();
  source->erase();
  return success();
}

struct ConvertStablehloToLinalg
    : public alula::dispatch::impl::ConvertStablehloToLinalgBase<
          ConvertStablehloToLinalg> {
  void runOnOperation() override {
    for (auto function :
         getOperation().getInnerModule().getOps<func::FuncOp>())
      if (failed(lowerFunction(function)))
        return signalPassFailure();
  }
};
} // namespace
