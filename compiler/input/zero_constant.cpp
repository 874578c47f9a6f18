#include "compiler/input/zero_constant.h"

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

Value alula::input::buildZero(OpBuilder &builder, Location location,
                              Type elementType) {
  auto type = RankedTensorType::get({}, elementType);
  ElementsAttr zero = getZero(builder, type);
  return zero ? builder.create<stablehlo::ConstantOp>(location, type, zero)
              : Value();
}
