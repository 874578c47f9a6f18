// What stage an op is by itself, and what that goes over.

#include "compiler/kernel/plan/forms.h"
#include "compiler/kernel/plan/plan.h"
#include "compiler/kernel/plan/tiles.h"

#include "dialect/dispatch/short_sum.h"
#include "dialect/stablehlo/access.h"
#include "dialect/stablehlo/ops.h"

using namespace mlir;
using namespace alula::kernel;
using alula::plan::Kind;
using alula::plan::StageAttr;

namespace {
bool isScalar(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return !type || type.getRank() == 0;
}

int64_t multiplyDims(Value tensor, ArrayRef<int64_t> dims) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> sizes;
  for (int64_t dim : dims)
    sizes.push_back(type.getDimSize(static_cast<unsigned>(dim)));
  return multiply(sizes).value_or(int64_t(ShapedType::kDynamic));
}

void appendShape(Value tensor, SmallVectorImpl<int64_t> &space) {
  if (auto type = dyn_cast<RankedTensorType>(tensor.getType()))
    llvm::append_range(space, type.getShape());
}

/// Matrices of the batch, rows, columns, terms.
SmallVector<int64_t> getProductSpace(stablehlo::DotGeneralOp dot) {
  auto numbers = dot.getDotDimensionNumbers();
  return {multiplyDims(dot.getLhs(), numbers.getLhsBatchingDimensions()),
          multiplyDims(dot.getLhs(), collectFreeDims(dot, /*isLhs=*/true)),
          multiplyDims(dot.getRhs(), collectFreeDims(dot, /*isLhs=*/false)),
          multiplyDims(dot.getLhs(), numbers.getLhsContractingDimensions())};
}

/// Batch, places, features, terms.
template <typename Op>
SmallVector<int64_t> getConvolutionSpace(Op convolution) {
  auto numbers = convolution.getDimensionNumbers();
  Value result = convolution.getResult(), kernel = convolution.getRhs();
  SmallVector<int64_t> space{
      multiplyDims(result, numbers.getOutputBatchDimension())};
  for (int64_t dim : numbers.getOutputSpatialDimensions())
    space.push_back(multiplyDims(result, dim));
  space.push_back(multiplyDims(result, numbers.getOutputFeatureDimension()));
  SmallVector<int64_t> terms(numbers.getKernelSpatialDimensions());
  terms.push_back(numbers.getKernelInputFeatureDimension());
  space.push_back(multiplyDims(kernel, terms));
  return space;
}
} // namespace

StageAttr alula::kernel::getStage(Operation *op) {
  return dyn_cast_or_null<StageAttr>(op->getDiscardableAttr(plan::stageName));
}

bool alula::kernel::isPlanned(func::FuncOp kernel) {
  return kernel->hasAttr(plan::gridName);
}

bool alula::kernel::needsPlan(Block &block) {
  return llvm::any_of(block, [](Operation &op) {
    return (op.getNumRegions() &&
            !op.hasTrait<mlir::OpTrait::IsTerminator>()) ||
           !llvm::all_of(op.getOperands(), isScalar) ||
           !llvm::all_of(op.getResults(), isScalar);
  });
}

bool alula::kernel::needsStage(Operation *op) {
  return !op->hasTrait<mlir::OpTrait::IsTerminator>() &&
         !op->hasTrait<mlir::OpTrait::ConstantLike>() &&
         llvm::any_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>);
}

Kind alula::kernel::getOwnKind(Operation *op) {
  using stablehlo::Access;
  if (dispatch::isShortSum(op))
    return Kind::Map;
  if (stablehlo::readsAny(op, Access::Contracted))
    return Kind::Product;
  if (auto reduce = dyn_cast<stablehlo::ReduceOp>(op))
    return reducesColumns(reduce) ? Kind::Columns : Kind::Rows;
  if (stablehlo::readsAny(op, Access::Window))
    return Kind::Window;
  if (stablehlo::readsAny(op, Access::Sorted))
    return Kind::Sort;
  if (stablehlo::readsAny(op, Access::Scattered))
    return Kind::Scatter;
  if (stablehlo::isControlFlow(op))
    return Kind::Control;
  if (stablehlo::reachesOutside(op) || isa<func::CallOp>(op) ||
      stablehlo::readsAny(op, Access::Whole))
    return Kind::Call;
  return Kind::Map;
}

SmallVector<int64_t> alula::kernel::getSpace(Operation *op) {
  SmallVector<int64_t> space;
  switch (getOwnKind(op)) {
  case Kind::Product:
    if (auto dot = dyn_cast<stablehlo::DotGeneralOp>(op))
      return getProductSpace(dot);
    if (auto dynamic = dyn_cast<stablehlo::DynamicConvOp>(op))
      return getConvolutionSpace(dynamic);
    return getConvolutionSpace(cast<stablehlo::ConvolutionOp>(op));
  case Kind::Scatter:
    appendShape(cast<stablehlo::ScatterOp>(op).getUpdates()[0], space);
    break;
  case Kind::Rows:
  case Kind::Columns: {
    // What is kept, then what is reduced.
    auto reduce = cast<stablehlo::ReduceOp>(op);
    auto shape =
        cast<RankedTensorType>(reduce.getInputs()[0].getType()).getShape();
    for (bool isReduced : {false, true})
      for (auto [dim, size] : llvm::enumerate(shape))
        if (llvm::is_contained(reduce.getDimensions(),
                               static_cast<int64_t>(dim)) == isReduced)
          space.push_back(size);
    break;
  }
  case Kind::Call:
  case Kind::Control:
    break;
  default:
    appendShape(op->getResult(0), space);
    break;
  }
  return space;
}
