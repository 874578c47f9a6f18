#include "dialect/stablehlo/build.h"

#include "dialect/stablehlo/ops.h"

using namespace mlir;

Value stablehlo::buildSum(OpBuilder &builder, Location location, Value operand,
                          Value zero, ArrayRef<int64_t> dims) {
  auto type = cast<RankedTensorType>(operand.getType());
  SmallVector<int64_t> sorted(dims), shape;
  llvm::sort(sorted);
  for (auto [dim, size] : llvm::enumerate(type.getShape()))
    if (!llvm::is_contained(sorted, static_cast<int64_t>(dim)))
      shape.push_back(size);
  auto scalar = RankedTensorType::get({}, type.getElementType());
  auto reduce = builder.create<ReduceOp>(
      location, TypeRange(RankedTensorType::get(shape, type.getElementType())),
      ValueRange(operand), ValueRange(zero), sorted);
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&reduce.getBody());
  block->addArguments({scalar, scalar}, {location, location});
  Value sum = builder.create<AddOp>(location, scalar, block->getArgument(0),
                                    block->getArgument(1));
  builder.create<ReturnOp>(location, sum);
  return reduce.getResult(0);
}

Value stablehlo::buildTranspose(OpBuilder &builder, Location location,
                                Value tensor, ArrayRef<int64_t> order) {
  if (llvm::is_sorted(order))
    return tensor;
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> shape;
  for (int64_t dim : order)
    shape.push_back(type.getDimSize(static_cast<unsigned>(dim)));
  return builder.create<TransposeOp>(location, type.clone(shape), tensor,
                                     builder.getDenseI64ArrayAttr(order));
}
