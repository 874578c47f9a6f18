// Sizes of results with dynamic dimensions.

#include "compiler/kernel/families.h"

#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace alula::kernel;

namespace {
/// The sizes that an operand lists.
SmallVector<Value> readSizes(Lowering &lowering, Value list) {
  SmallVector<Value> sizes;
  int64_t count = cast<RankedTensorType>(list.getType()).getDimSize(0);
  for (int64_t i = 0; i < count; ++i)
    sizes.push_back(lowering.getIndexElement(list, lowering.index(i)));
  return sizes;
}
} // namespace

SmallVector<Value> alula::kernel::computeResultShape(OpResult result,
                                                     Lowering &lowering) {
  Operation *op = result.getOwner();
  if (isa<stablehlo::DynamicBroadcastInDimOp, stablehlo::DynamicReshapeOp>(op))
    return readSizes(lowering, op->getOperand(1));
  if (isa<stablehlo::DynamicIotaOp>(op))
    return readSizes(lowering, op->getOperand(0));
  if (isa<stablehlo::SelectOp>(op))
    return lowering.getShape(op->getOperand(1));
  if (isa<stablehlo::ClampOp>(op))
    return lowering.getShape(op->getOperand(1));
  if (op->hasTrait<mlir::OpTrait::Elementwise>() ||
      isa<stablehlo::DynamicUpdateSliceOp, stablehlo::ReverseOp>(op))
    return lowering.getShape(op->getOperand(0));
  if (isa<stablehlo::ScatterOp, stablehlo::SortOp,
          stablehlo::SelectAndScatterOp>(op))
    return lowering.getShape(op->getOperand(result.getResultNumber()));
  if (isa<stablehlo::GatherOp, stablehlo::DynamicGatherOp>(op))
    return computeGatherShape(op, lowering);
  if (isa<stablehlo::ReduceWindowOp>(op))
    return computeReduceWindowShape(op, lowering);
  if (auto transpose = dyn_cast<stablehlo::TransposeOp>(op)) {
    SmallVector<Value> sizes;
    for (int64_t dim : transpose.getPermutation())
      sizes.push_back(lowering.getDim(transpose.getOperand(), dim));
    return sizes;
  }
  if (auto reduce = dyn_cast<stablehlo::ReduceOp>(op)) {
    SmallVector<Value> sizes;
    Value input = reduce.getInputs()[0];
    for (int64_t dim = 0; dim < cast<RankedTensorType>(input.getType()).getRank();
         ++dim)
      if (!llvm::is_contained(reduce.getDimensions(), dim))
        sizes.push_back(lowering.getDim(input, dim));
    return sizes;
  }
  return {};
}
