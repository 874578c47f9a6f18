// Lowers ops that make values or move them.

#include "compiler/dispatch/lowering.h"

#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace alula::dispatch;

namespace {
Value first(OpBuilder &, ValueRange arguments) { return arguments.front(); }

/// `source` with each index of the result mapped by `indices`.
LogicalResult lowerToMap(Operation *op, Lowering &lowering,
                         ArrayRef<AffineExpr> indices) {
  Type type = op->getResult(0).getType();
  auto map = AffineMap::get(cast<RankedTensorType>(type).getRank(), 0, indices,
                            op->getContext());
  lowering.set(op->getResult(0),
               lowering.createMap(op->getLoc(), type,
                                  lowering.get(op->getOperand(0)), map, first));
  return success();
}
} // namespace

LogicalResult alula::dispatch::lowerConstant(Operation *op,
                                             Lowering &lowering) {
  auto constant = cast<stablehlo::ConstantOp>(op);
  auto value = dyn_cast<DenseElementsAttr>(constant.getValue());
  auto type = cast<RankedTensorType>(lowerType(constant.getType()));
  if (!value)
    return declineOp(op, "constants of this kind");
  // Same bits, without the sign of the type.
  if (isa<IntegerType>(type.getElementType()))
    value = value.bitcast(type.getElementType());
  lowering.set(constant.getResult(), lowering.builder.create<arith::ConstantOp>(
                                         op->getLoc(), value.reshape(type)));
  return success();
}

LogicalResult alula::dispatch::lowerIota(Operation *op, Lowering &lowering) {
  auto iota = cast<stablehlo::IotaOp>(op);
  Type element = cast<RankedTensorType>(lowerType(iota.getType())).getElementType();
  lowering.set(
      iota.getResult(),
      lowering.createMap(
          op->getLoc(), iota.getType(), {}, {},
          [&](OpBuilder &builder, ValueRange) -> Value {
            Value index = builder.create<linalg::IndexOp>(
                op->getLoc(), iota.getIotaDimension());
            Type wide = builder.getI64Type();
            Value number =
                builder.create<arith::IndexCastOp>(op->getLoc(), wide, index);
            if (isa<FloatType>(element))
              return builder.create<arith::SIToFPOp>(op->getLoc(), element,
                                                     number);
            if (element == wide)
              return number;
            return builder.create<arith::TruncIOp>(op->getLoc(), element,
                                                   number);
          }));
  return success();
}

LogicalResult alula::dispatch::lowerBroadcastInDim(Operation *op,
                                                   Lowering &lowering) {
  auto broadcast = cast<stablehlo::BroadcastInDimOp>(op);
  auto operand = cast<RankedTensorType>(broadcast.getOperand().getType());
  SmallVector<AffineExpr> indices;
  for (auto [size, dim] : llvm::zip_equal(operand.getShape(),
                                          broadcast.getBroadcastDimensions()))
    indices.push_back(size == 1 ? lowering.builder.getAffineConstantExpr(0)
                                : lowering.builder.getAffineDimExpr(
                                      static_cast<unsigned>(dim)));
  return lowerToMap(op, lowering, indices);
}

LogicalResult alula::dispatch::lowerTranspose(Operation *op,
                                              Lowering &lowering) {
  auto transpose = cast<stablehlo::TransposeOp>(op);
  SmallVector<AffineExpr> indices(transpose.getPermutation().size());
  for (auto [result, operand] : llvm::enumerate(transpose.getPermutation()))
    indices[operand] =
        lowering.builder.getAffineDimExpr(static_cast<unsigned>(result));
  return lowerToMap(op, lowering, indices);
}

LogicalResult alula::dispatch::lowerReverse(Operation *op,
                                            Lowering &lowering) {
  auto reverse = cast<stablehlo::ReverseOp>(op);
  auto type = cast<RankedTensorType>(reverse.getType());
  Value source = lowering.get(reverse.getOperand());
  lowering.set(
      reverse.getResult(),
      lowering.createMap(
          op->getLoc(), type, {}, {},
          [&](OpBuilder &builder, ValueRange) -> Value {
            SmallVector<Value> indices;
            for (int64_t dim = 0; dim < type.getRank(); ++dim) {
              Value index = builder.create<linalg::IndexOp>(op->getLoc(), dim);
              if (llvm::is_contained(reverse.getDimensions(), dim)) {
                Value last = builder.create<arith::ConstantIndexOp>(
                    op->getLoc(), type.getDimSize(dim) - 1);
                index = builder.create<arith::SubIOp>(op->getLoc(), last, index);
              }
              indices.push_back(index);
            }
            return builder.create<tensor::ExtractOp>(op->getLoc(), source,
                                                     indices);
          }));
  return success();
}

LogicalResult alula::dispatch::lowerSlice(Operation *op, Lowering &lowering) {
  auto slice = cast<stablehlo::SliceOp>(op);
  auto type = cast<RankedTensorType>(lowerType(slice.getType()));
  auto toAttrs = [&](ArrayRef<int64_t> values) {
    return getAsIndexOpFoldResult(op->getContext(), values);
  };
  lowering.set(slice.getResult(),
               lowering.builder.create<tensor::ExtractSliceOp>(
                   op->getLoc(), type, lowering.get(slice.getOperand()),
                   toAttrs(slice.getStartIndices()), toAttrs(type.getShape()),
                   toAttrs(slice.getStrides())));
  return success();
}

LogicalResult alula::dispatch::lowerReshape(Operation *op,
                                            Lowering &lowering) {
  auto reshape = cast<stablehlo::ReshapeOp>(op);
  auto type = cast<RankedTensorType>(lowerType(reshape.getType()));
  Value source = lowering.get(reshape.getOperand());
  auto sourceType = cast<RankedTensorType>(source.getType());
  OpBuilder &builder = lowering.builder;
  // Through one dimension: collapse all, then expand to the new sizes.
  auto allDims = [](int64_t rank) {
    SmallVector<ReassociationIndices> groups(rank ? 1 : 0);
    for (int64_t dim = 0; dim < rank; ++dim)
      groups[0].push_back(dim);
    return groups;
  };
  auto flat = RankedTensorType::get({type.getNumElements()},
                                    type.getElementType());
  if (sourceType.getRank() == 0)
    source = builder.create<tensor::ExpandShapeOp>(
        op->getLoc(), flat, source, ArrayRef<ReassociationIndices>());
  else if (sourceType.getRank() > 1)
    source = builder.create<tensor::CollapseShapeOp>(
        op->getLoc(), flat, source, allDims(sourceType.getRank()));
  if (type.getRank() == 0)
    source = builder.create<tensor::CollapseShapeOp>(
        op->getLoc(), type, source, ArrayRef<ReassociationIndices>());
  else if (type.getRank() > 1)
    source = builder.create<tensor::ExpandShapeOp>(op->getLoc(), type, source,
                                                   allDims(type.getRank()));
  lowering.set(reshape.getResult(), source);
  return success();
}
