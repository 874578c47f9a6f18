// Builds elementwise stablehlo from formulas.

#include "compiler/input/element_math.h"

#include "dialect/stablehlo/ops.h"

using namespace mlir;
using namespace alula::input;

Type Num::element() const { return getElementTypeOrSelf(value.getType()); }

Type ElementMath::shaped(Type element) const {
  return cast<ShapedType>(like.getType()).clone(element);
}

Value ElementMath::shapeValue() {
  if (sizes)
    return sizes;
  auto type = cast<RankedTensorType>(like.getType());
  Type i32 = builder.getI32Type();
  SmallVector<Value> parts;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    Value size = builder.create<stablehlo::GetDimensionSizeOp>(
        location, RankedTensorType::get({}, i32), like, dim);
    parts.push_back(builder.create<stablehlo::ReshapeOp>(
        location, RankedTensorType::get({1}, i32), size));
  }
  sizes = builder.create<stablehlo::ConcatenateOp>(
      location, RankedTensorType::get({type.getRank()}, i32), parts,
      /*dimension=*/0);
  return sizes;
}

Num ElementMath::splat(Type element, TypedAttr scalar) {
  Value &known = constants[scalar];
  if (known)
    return of(known);
  auto type = cast<ShapedType>(shaped(element));
  if (type.hasStaticShape()) {
    known = builder.create<stablehlo::ConstantOp>(
        location, type, DenseElementsAttr::get(type, scalar));
    return of(known);
  }
  auto scalarType = RankedTensorType::get({}, element);
  Value one = builder.create<stablehlo::ConstantOp>(
      location, scalarType, DenseElementsAttr::get(scalarType, scalar));
  Value dims = shapeValue();
  Value result = builder.create<stablehlo::DynamicBroadcastInDimOp>(
      location, type, one, dims, builder.getDenseI64ArrayAttr({}));
  return of(constants[scalar] = result);
}

Num ElementMath::constant(Type element, double number) {
  if (isa<FloatType>(element))
    return splat(element, builder.getFloatAttr(element, number));
  return splat(element, builder.getIntegerAttr(
                            element, static_cast<int64_t>(number)));
}

Num ElementMath::integer(Type element, const llvm::APInt &number) {
  return splat(element, builder.getIntegerAttr(element, number));
}

namespace {
template <typename OpT> Num unary(Num x) {
  auto &m = *x.math;
  return m.of(m.builder.create<OpT>(m.location, TypeRange(x.value.getType()),
                                    x.value));
}

template <typename OpT> Num binary(Num a, Num b) {
  auto &m = *a.math;
  return m.of(m.builder.create<OpT>(m.location, a.value.getType(), a.value,
                                    b.value));
}

Num like(double number, Num x) {
  return x.math->constant(x.element(), number);
}

Num compare(Num a, Num b, stablehlo::ComparisonDirection direction) {
  auto &m = *a.math;
  auto kind = stablehlo::ComparisonType::FLOAT;
  if (auto integer = dyn_cast<IntegerType>(a.element()))
    kind = integer.isUnsigned() || integer.getWidth() == 1
               ? stablehlo::ComparisonType::UNSIGNED
               : stablehlo::ComparisonType::SIGNED;
  return m.of(m.builder.create<stablehlo::CompareOp>(
      m.location, m.shaped(m.builder.getI1Type()), a.value, b.value, direction,
      stablehlo::ComparisonTypeAttr::get(m.builder.getContext(), kind)));
}
using Direction = stablehlo::ComparisonDirection;
} // namespace

namespace alula::input {
Num operator+(Num a, Num b) { return binary<stablehlo::AddOp>(a, b); }
Num operator-(Num a, Num b) { return binary<stablehlo::SubtractOp>(a, b); }
Num operator*(Num a, Num b) { return binary<stablehlo::MulOp>(a, b); }
Num operator/(Num a, Num b) { return binary<stablehlo::DivOp>(a, b); }
Num operator+(Num a, double b) { return a + like(b, a); }
Num operator-(Num a, double b) { return a - like(b, a); }
Num operator*(Num a, double b) { return a * like(b, a); }
Num operator/(Num a, double b) { return a / like(b, a); }
Num operator+(double a, Num b) { return like(a, b) + b; }
Num operator-(double a, Num b) { return like(a, b) - b; }
Num operator*(double a, Num b) { return like(a, b) * b; }
Num operator/(double a, Num b) { return like(a, b) / b; }
Num operator-(Num a) { return unary<stablehlo::NegOp>(a); }

Num operator<(Num a, Num b) { return compare(a, b, Direction::LT); }
Num operator<=(Num a, Num b) { return compare(a, b, Direction::LE); }
Num operator==(Num a, Num b) { return compare(a, b, Direction::EQ); }
Num operator!=(Num a, Num b) { return compare(a, b, Direction::NE); }
Num operator<(Num a, double b) { return a < like(b, a); }
Num operator<=(Num a, double b) { return a <= like(b, a); }
Num operator>(Num a, double b) { return compare(a, like(b, a), Direction::GT); }
Num operator>=(Num a, double b) {
  return compare(a, like(b, a), Direction::GE);
}
Num operator==(Num a, double b) { return a == like(b, a); }
Num operator!=(Num a, double b) { return a != like(b, a); }
Num operator&(Num a, Num b) { return binary<stablehlo::AndOp>(a, b); }
Num operator|(Num a, Num b) { return binary<stablehlo::OrOp>(a, b); }
Num operator^(Num a, Num b) { return binary<stablehlo::XorOp>(a, b); }
Num operator~(Num a) { return unary<stablehlo::NotOp>(a); }

Num select(Num pred, Num onTrue, Num onFalse) {
  auto &m = *pred.math;
  return m.of(m.builder.create<stablehlo::SelectOp>(
      m.location, onTrue.value.getType(), pred.value, onTrue.value,
      onFalse.value));
}
Num select(Num pred, double onTrue, Num onFalse) {
  return select(pred, like(onTrue, onFalse), onFalse);
}
Num select(Num pred, Num onTrue, double onFalse) {
  return select(pred, onTrue, like(onFalse, onTrue));
}

Num abs(Num x) { return unary<stablehlo::AbsOp>(x); }
Num atan2(Num y, Num x) { return binary<stablehlo::Atan2Op>(y, x); }
Num cos(Num x) { return unary<stablehlo::CosineOp>(x); }
Num exp(Num x) { return unary<stablehlo::ExpOp>(x); }
Num expm1(Num x) { return unary<stablehlo::Expm1Op>(x); }
Num floor(Num x) { return unary<stablehlo::FloorOp>(x); }
Num log(Num x) { return unary<stablehlo::LogOp>(x); }
Num log1p(Num x) { return unary<stablehlo::Log1pOp>(x); }
Num max(Num a, Num b) { return binary<stablehlo::MaxOp>(a, b); }
Num min(Num a, Num b) { return binary<stablehlo::MinOp>(a, b); }
Num pow(Num a, Num b) { return binary<stablehlo::PowOp>(a, b); }
Num shiftRightLogical(Num a, Num b) {
  return binary<stablehlo::ShiftRightLogicalOp>(a, b);
}
Num shiftRightArithmetic(Num a, Num b) {
  return binary<stablehlo::ShiftRightArithmeticOp>(a, b);
}
Num shiftLeft(Num a, Num b) { return binary<stablehlo::ShiftLeftOp>(a, b); }
Num sign(Num x) { return unary<stablehlo::SignOp>(x); }
Num sin(Num x) { return unary<stablehlo::SineOp>(x); }
Num sqrt(Num x) { return unary<stablehlo::SqrtOp>(x); }
Num tan(Num x) { return unary<stablehlo::TanOp>(x); }

Num convert(Num x, Type element) {
  if (x.element() == element)
    return x;
  auto &m = *x.math;
  return m.of(m.builder.create<stablehlo::ConvertOp>(
      m.location, m.shaped(element), x.value));
}
Num bitcast(Num x, Type element) {
  auto &m = *x.math;
  return m.of(m.builder.create<stablehlo::BitcastConvertOp>(
      m.location, m.shaped(element), x.value));
}
Num isFinite(Num x) {
  auto &m = *x.math;
  return m.of(m.builder.create<stablehlo::IsFiniteOp>(
      m.location, m.shaped(m.builder.getI1Type()), x.value));
}

Num real(Num z) {
  auto &m = *z.math;
  Type part = cast<ComplexType>(z.element()).getElementType();
  return m.of(m.builder.create<stablehlo::RealOp>(m.location, m.shaped(part),
                                                  z.value));
}
Num imag(Num z) {
  auto &m = *z.math;
  Type part = cast<ComplexType>(z.element()).getElementType();
  return m.of(m.builder.create<stablehlo::ImagOp>(m.location, m.shaped(part),
                                                  z.value));
}
Num complex(Num re, Num im) {
  auto &m = *re.math;
  return m.of(m.builder.create<stablehlo::ComplexOp>(
      m.location, m.shaped(ComplexType::get(re.element())), re.value,
      im.value));
}

Num polynomial(Num x, ArrayRef<double> coefficients) {
  Num result = like(coefficients.front(), x);
  for (double coefficient : coefficients.drop_front())
    result = result * x + coefficient;
  return result;
}

double largest(Type element) {
  return llvm::APFloat::getLargest(
             cast<FloatType>(element).getFloatSemantics())
      .convertToDouble();
}
double smallestNormal(Type element) {
  return llvm::APFloat::getSmallestNormalized(
             cast<FloatType>(element).getFloatSemantics())
      .convertToDouble();
}
double epsilon(Type element) { return element.isF64() ? 0x1p-52 : 0x1p-23; }
} // namespace alula::input
