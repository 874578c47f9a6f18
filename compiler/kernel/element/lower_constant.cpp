// Elements of constants that are one number everywhere.

#include "compiler/kernel/element/generators.h"
#include "compiler/kernel/element/reader.h"
#include "compiler/kernel/element/scalar.h"

#include "dialect/newer/attributes.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"

using namespace mlir;
using namespace alula::kernel;

namespace {
double toDouble(APFloat number) {
  bool isInexact = false;
  number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                 &isInexact);
  return number.convertToDouble();
}

Value makeSplat(Reader &reader, Attribute value, Type element) {
  ImplicitLocOpBuilder &b = reader.b;
  Type type = getValueType(element);
  if (auto bridged = dyn_cast<alula::newer::DenseBridgedAttr>(value))
    return makeNumber(
        reader, type,
        alula::newer::decode(bridged.getFormat(), bridged.getRawCodes()[0]));
  auto dense = cast<DenseElementsAttr>(value);
  if (isa<IntegerType>(element))
    return b.create<arith::ConstantOp>(
        b.getIntegerAttr(type, dense.getSplatValue<APInt>()));
  if (auto complex = dyn_cast<ComplexType>(element)) {
    auto number = dense.getSplatValue<std::complex<APFloat>>();
    Type part = complex.getElementType();
    return b.create<complex::ConstantOp>(
        type, b.getArrayAttr({b.getFloatAttr(part, number.real()),
                              b.getFloatAttr(part, number.imag())}));
  }
  auto number = dense.getSplatValue<APFloat>();
  if (isSmallFloat(element))
    return makeNumber(reader, type, toDouble(number));
  return b.create<arith::ConstantOp>(b.getFloatAttr(type, number));
}
} // namespace

Value alula::kernel::generateConstant(OpResult result, ValueRange,
                                      Reader &reader) {
  auto constant = cast<stablehlo::ConstantOp>(result.getOwner());
  // Loops over an empty tensor never run, but their code is emitted.
  if (!constant.getType().getNumElements())
    return reader.zero(getValueType(getElementType(result)));
  return makeSplat(reader, constant.getValue(), getElementType(result));
}
