// Says the ops that the specification has left behind in the ones it has.
//
//   broadcast → broadcast_in_dim      create_token → after_all
//   dot → dot_general                 cross-replica-sum → all_reduce
//   einsum, unary_einsum → dot_general, reduce, transpose
//   torch_index_select → gather       real_dynamic_slice → slice, if constant

#include "compiler/input/list_arithmetic.h"
#include "compiler/input/lower_einsum.h"

#include "dialect/stablehlo/dimension_rules.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/TypeSwitch.h"

namespace alula::input {
#define GEN_PASS_DECL_INPUTLOWERDEPRECATED
#define GEN_PASS_DEF_INPUTLOWERDEPRECATED
#include "compiler/input/passes.h.inc"
} // namespace alula::input

using namespace mlir;
using namespace alula::input;

#define DEBUG_TYPE "input-lower-deprecated"

namespace {
RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

LogicalResult requireStatic(Operation *op) {
  for (Type type : llvm::concat<const Type>(
           SmallVector<Type>(op->getOperandTypes()),
           SmallVector<Type>(op->getResultTypes())))
    if (auto shaped = dyn_cast<ShapedType>(type))
      if (!shaped.hasStaticShape())
        return stablehlo::opError(op) << "shapes must be static: has " << type;
  return success();
}

LogicalResult lower(stablehlo::BroadcastOp op, IRRewriter &rewriter,
                    bool dynamicShapes) {
  if (!dynamicShapes && failed(requireStatic(op)))
    return failure();
  SmallVector<int64_t> dims;
  auto first = static_cast<int64_t>(op.getBroadcastSizes().size());
  for (int64_t dim = 0; dim < typeOf(op.getOperand()).getRank(); ++dim)
    dims.push_back(first + dim);
  if (!typeOf(op.getOperand()).hasStaticShape() ||
      !typeOf(op).hasStaticShape()) {
    ListArithmetic math(rewriter, op.getLoc());
    SmallVector<Value> sizes;
    for (int64_t size : op.getBroadcastSizes())
      sizes.push_back(math.make(size));
    for (int64_t dim = 0; dim < typeOf(op.getOperand()).getRank(); ++dim)
      sizes.push_back(math.getDim(op.getOperand(), dim));
    rewriter.replaceOpWithNewOp<stablehlo::DynamicBroadcastInDimOp>(
        op, op.getType(), op.getOperand(), math.makeList(sizes),
        rewriter.getDenseI64ArrayAttr(dims), DenseI64ArrayAttr(),
        DenseI64ArrayAttr());
    return success();
  }
  rewriter.replaceOpWithNewOp<stablehlo::BroadcastInDimOp>(
      op, op.getType(), op.getOperand(), dims);
  return success();
}

LogicalResult lower(stablehlo::CrossReplicaSumOp op, IRRewriter &rewriter) {
  Location location = op.getLoc();
  auto reduce = rewriter.create<stablehlo::AllReduceOp>(
      location, op->getResultTypes(), ValueRange(op.getOperand()),
      op.getReplicaGroups(), stablehlo::ChannelHandleAttr(), UnitAttr());
  auto scalar = RankedTensorType::get({}, typeOf(op).getElementType());
  Block *block = rewriter.createBlock(&reduce.getComputation());
  block->addArguments({scalar, scalar}, {location, location});
  Value sum = rewriter.create<stablehlo::AddOp>(
      location, scalar, block->getArgument(0), block->getArgument(1));
  rewriter.create<stablehlo::ReturnOp>(location, sum);
  rewriter.replaceOp(op, reduce);
  return success();
}

LogicalResult lower(stablehlo::DotOp op, IRRewriter &rewriter) {
  // The last dimension of lhs with the first of rhs.
  auto numbers = stablehlo::DotDimensionNumbersAttr::get(
      op.getContext(), {}, {}, {typeOf(op.getLhs()).getRank() - 1}, {0});
  rewriter.replaceOpWithNewOp<stablehlo::DotGeneralOp>(
      op, op.getType(), op.getLhs(), op.getRhs(), numbers,
      op.getPrecisionConfigAttr(), stablehlo::DotAlgorithmAttr());
  return success();
}

LogicalResult lower(stablehlo::TorchIndexSelectOp op, IRRewriter &rewriter) {
  if (failed(requireStatic(op)))
    return failure();
  auto operand = typeOf(op.getOperand());
  auto index = typeOf(op.getIndex());
  auto dim = static_cast<int64_t>(op.getDim());
  auto batch = static_cast<int64_t>(op.getBatchDims());
  // Negative numbers count from the end.
  dim += dim < 0 ? operand.getRank() : 0;
  batch += batch < 0 ? index.getRank() : 0;
  // Batch dimensions lead in both; then operand dimensions before dim, index
  // dimensions, operand dimensions after it.
  SmallVector<int64_t> offsets, batching, sizes(operand.getShape());
  for (int64_t at = batch; at < dim; ++at)
    offsets.push_back(at);
  int64_t afterIndex = dim + index.getRank() - batch;
  for (int64_t at = dim + 1; at < operand.getRank(); ++at)
    offsets.push_back(afterIndex + at - dim - 1);
  for (int64_t at = 0; at < batch; ++at) {
    batching.push_back(at);
    sizes[at] = 1;
  }
  sizes[dim] = 1;
  auto numbers = stablehlo::GatherDimensionNumbersAttr::get(
      op.getContext(), offsets, /*collapsedSliceDims=*/{dim}, batching,
      batching, /*startIndexMap=*/{dim}, /*indexVectorDim=*/index.getRank());
  rewriter.replaceOpWithNewOp<stablehlo::GatherOp>(
      op, op.getType(), op.getOperand(), op.getIndex(), numbers, sizes,
      /*indices_are_sorted=*/false);
  return success();
}

LogicalResult lower(stablehlo::RealDynamicSliceOp op, IRRewriter &rewriter,
                    bool dynamicShapes) {
  auto start = stablehlo::readConstant(op.getStartIndices());
  auto limit = stablehlo::readConstant(op.getLimitIndices());
  auto strides = stablehlo::readConstant(op.getStrides());
  if ((!start || !limit || !strides) && dynamicShapes)
    return success();
  if (!start || !limit || !strides)
    return stablehlo::opError(op)
           << "start, limit and strides must be constant: "
           << (!start ? "start" : !limit ? "limit" : "strides") << " is not";
  rewriter.replaceOpWithNewOp<stablehlo::SliceOp>(
      op, op.getType(), op.getOperand(), *start, *limit, *strides);
  return success();
}

struct LowerDeprecated
    : alula::input::impl::InputLowerDeprecatedBase<LowerDeprecated> {
  using InputLowerDeprecatedBase::InputLowerDeprecatedBase;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    getOperation().walk([&](Operation *op) {
      rewriter.setInsertionPoint(op);
      LogicalResult result =
          llvm::TypeSwitch<Operation *, LogicalResult>(op)
              .Case<stablehlo::CrossReplicaSumOp, stablehlo::DotOp,
                    stablehlo::TorchIndexSelectOp>(
                  [&](auto typed) { return lower(typed, rewriter); })
              .Case<stablehlo::BroadcastOp, stablehlo::RealDynamicSliceOp>(
                  [&](auto typed) {
                    return lower(typed, rewriter, dynamicShapes);
                  })
              .Case([&](stablehlo::CreateTokenOp) {
                rewriter.replaceOpWithNewOp<stablehlo::AfterAllOp>(
                    op, op->getResultTypes(), ValueRange());
                return success();
              })
              .Case<stablehlo::EinsumOp, stablehlo::UnaryEinsumOp>(
                  [&](auto) { return lowerEinsum(op, rewriter); })
              .Default([](Operation *) { return success(); });
      if (failed(result))
        signalPassFailure();
    });
  }
};
} // namespace
