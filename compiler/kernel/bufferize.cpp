// Gives kernels the form that the host calls: buffers in, buffers out.
//   func @k(%a: tensor<4xf32>) -> tensor<4xf32>
//   →  func @k(%a: memref<4xf32>, %out: memref<4xf32>)
// Relies on: results are computed into tensor.empty or linalg.fill, so that
// they can be written where they belong.

#include "compiler/kernel/passes.h"
#include "dialect/dispatch/ops.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace alula::kernel {
#define GEN_PASS_DEF_BUFFERIZE
#include "compiler/kernel/passes.h.inc"
} // namespace alula::kernel

using namespace mlir;

namespace {
MemRefType bufferType(Type tensor) {
  auto ranked = cast<RankedTensorType>(tensor);
  return MemRefType::get(ranked.getShape(), ranked.getElementType());
}

/// Replaces the tensors of the signature by buffers.
void takeBuffers(func::FuncOp function) {
  Block &body = function.front();
  auto builder = OpBuilder::atBlockBegin(&body);
  for (BlockArgument argument : body.getArguments()) {
    Type tensor = argument.getType();
    argument.setType(bufferType(tensor));
    auto value = builder.create<bufferization::ToTensorOp>(
        argument.getLoc(), tensor, argument, /*restrict=*/true,
        /*writable=*/false);
    argument.replaceAllUsesExcept(value, value);
  }
  Operation *end = body.getTerminator();
  builder.setInsertionPoint(end);
  for (Value result : end->getOperands()) {
    Value out = body.addArgument(bufferType(result.getType()), end->getLoc());
    auto write = builder.create<bufferization::MaterializeInDestinationOp>(
        end->getLoc(), result, out);
    write.setRestrict(true);
    write.setWritable(true);
  }
  builder.create<func::ReturnOp>(end->getLoc());
  end->erase();
  function.setType(builder.getFunctionType(body.getArgumentTypes(), {}));
}

/// A copy as loops: kernels have no memcpy to call.
void expandCopies(func::FuncOp function) {
  function.walk([](memref::CopyOp copy) {
    OpBuilder builder(copy);
    // A result that was computed in place is copied onto itself.
    if (copy.getSource() != copy.getTarget())
      builder.create<linalg::CopyOp>(copy.getLoc(), copy.getSource(),
                                     copy.getTarget());
    copy.erase();
  });
}

struct Bufferize : public alula::kernel::impl::BufferizeBase<Bufferize> {
  void runOnOperation() override {
    bufferization::OneShotBufferizationOptions options;
    options.bufferAlignment = 64;
    options.setFunctionBoundaryTypeConversion(
        bufferization::LayoutMapOption::IdentityLayoutMap);
    for (auto function :
         getOperation().getInnerModule().getOps<func::FuncOp>()) {
      takeBuffers(function);
      IRRewriter rewriter(function.getContext());
      bufferization::OneShotAnalysisState state(function, options);
      if (failed(bufferization::analyzeOp(function, state)) ||
          failed(bufferization::eliminateEmptyTensors(rewriter, function)) ||
          failed(bufferization::runOneShotBufferize(function, options))) {
        function.emitError() << "'func.func': can't be given buffers: @"
                             << function.getSymName();
        return signalPassFailure();
      }
      expandCopies(function);
    }
  }
};
} // namespace
