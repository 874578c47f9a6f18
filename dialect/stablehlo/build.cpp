#include "dialect/stablehlo/build.h"

#include "dialect/newer/attributes.h"
#include "dialect/stablehlo/ops.h"

using namespace mlir;

namespace {
ElementsAttr getZero(OpBuilder &builder, RankedTensorType type) {
  Type element = type.getElementType();
  if (alula::newer::isBridgedFloat(element))
    return alula::newer::DenseBridgedAttr::get(type, ArrayRef<double>(0.0));
  if (auto complex = dyn_cast<ComplexType>(element)) {
    Attribute part = builder.getZeroAttr(complex.getElementType());
    Attribute zero = builder.getArrayAttr({part, part});
    return DenseElementsAttr::get(type, ArrayRef(zero));
  }
  if (auto quantized = dyn_cast<quant::UniformQuantizedType>(element)) {
    auto storage = RankedTensorType::get({}, quantized.getStorageType());
    Attribute zero = builder.getIntegerAttr(quantized.getStorageType(),
                                            quantized.getZeroPoint());
    return DenseElementsAttr::get(storage, ArrayRef(zero));
  }
  Attribute zero = builder.getZeroAttr(element);
  return zero ? DenseElementsAttr::get(type, ArrayRef(zero)) : ElementsAttr();
}
} // namespace

Value stablehlo::buildZero(OpBuilder &builder, Location location,
                           Type elementType) {
  auto type = RankedTensorType::get({}, elementType);
  ElementsAttr zero = getZero(builder, type);
  return zero ? builder.create<ConstantOp>(location, type, zero) : Value();
}

Value stablehlo::buildSum(OpBuilder &builder, Location location, Value operand,
                          ArrayRef<int64_t> dims) {
  auto type = cast<RankedTensorType>(operand.getType());
  SmallVector<int64_t> sorted(dims), shape;
  llvm::sort(sorted);
  for (auto [dim, size] : llvm::enumerate(type.getShape()))
    if (!llvm::is_contained(sorted, static_cast<int64_t>(dim)))
      shape.push_back(size);
  auto scalar = RankedTensorType::get({}, type.getElementType());
  Value zero = buildZero(builder, location, type.getElementType());
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
