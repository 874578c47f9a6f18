#include "compiler/input/list_arithmetic.h"

using namespace mlir;
using namespace alula::input;

Value ListArithmetic::make(int64_t value) {
  return builder.create<stablehlo::ConstantOp>(
      location, type, DenseElementsAttr::get(type, value));
}

Value ListArithmetic::getDim(Value tensor, int64_t dim) {
  auto tensorType = cast<RankedTensorType>(tensor.getType());
  if (!tensorType.isDynamicDim(static_cast<unsigned>(dim)))
    return make(tensorType.getDimSize(static_cast<unsigned>(dim)));
  Value size = builder.create<stablehlo::GetDimensionSizeOp>(
      location, RankedTensorType::get({}, builder.getI32Type()), tensor,
      builder.getI64IntegerAttr(dim));
  return builder.create<stablehlo::ConvertOp>(location, type, size);
}

Value ListArithmetic::getElement(Value list, ArrayRef<int64_t> position) {
  auto listType = cast<RankedTensorType>(list.getType());
  Type element = listType.getElementType();
  SmallVector<int64_t> ones(position.size(), 1), limits;
  for (int64_t at : position)
    limits.push_back(at + 1);
  Value value = list;
  if (!position.empty()) {
    value = builder.create<stablehlo::SliceOp>(
        location, RankedTensorType::get(ones, element), list, position, limits,
        ones);
    value = builder.create<stablehlo::ReshapeOp>(
        location, RankedTensorType::get({}, element), value);
  }
  return value.getType() == type
             ? value
             : builder.create<stablehlo::ConvertOp>(location, type, value)
                   .getResult();
}

Value ListArithmetic::makeList(ValueRange numbers) {
  auto one = RankedTensorType::get({1}, builder.getI64Type());
  SmallVector<Value> parts;
  for (Value number : numbers)
    parts.push_back(
        builder.create<stablehlo::ReshapeOp>(location, one, number));
  return builder.create<stablehlo::ConcatenateOp>(
      location,
      RankedTensorType::get({static_cast<int64_t>(parts.size())},
                            builder.getI64Type()),
      parts, /*dimension=*/0);
}

Value ListArithmetic::add(Value a, Value b) {
  return builder.create<stablehlo::AddOp>(location, type, a, b);
}
Value ListArithmetic::subtract(Value a, Value b) {
  return builder.create<stablehlo::SubtractOp>(location, type, a, b);
}
Value ListArithmetic::multiply(Value a, Value b) {
  return builder.create<stablehlo::MulOp>(location, type, a, b);
}
Value ListArithmetic::divide(Value a, Value b) {
  return builder.create<stablehlo::DivOp>(location, type, a, b);
}
Value ListArithmetic::getRemainder(Value a, Value b) {
  return builder.create<stablehlo::RemOp>(location, type, a, b);
}
Value ListArithmetic::getMaximum(Value a, Value b) {
  return builder.create<stablehlo::MaxOp>(location, type, a, b);
}
Value ListArithmetic::getMinimum(Value a, Value b) {
  return builder.create<stablehlo::MinOp>(location, type, a, b);
}
