// Conversions of one element between any two types.

#include "compiler/kernel/element/element_form.h"
#include "compiler/kernel/element/scalar.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace alula::kernel;

namespace {
Value isNotZero(CodeBuilder &builder, Value value) {
  ImplicitLocOpBuilder &b = builder.b;
  Value zero = builder.zero(value.getType());
  if (isa<FloatType>(value.getType()))
    return b.create<arith::CmpFOp>(arith::CmpFPredicate::UNE, value, zero);
  return b.create<arith::CmpIOp>(arith::CmpIPredicate::ne, value, zero);
}

/// Of 32 bits and more by way of f64, so that there is one rounding.
Value toFloat(CodeBuilder &builder, Value value, bool isSigned, Type to) {
  ImplicitLocOpBuilder &b = builder.b;
  Type wide = getValueType(to);
  if (!wide.isF64() && (isSmallFloat(to) || !wide.isF32()))
    wide = value.getType().getIntOrFloatBitWidth() > 16
               ? Type(b.getF64Type())
               : Type(b.getF32Type());
  Value number = isSigned ? b.create<arith::SIToFPOp>(wide, value).getResult()
                          : b.create<arith::UIToFPOp>(wide, value).getResult();
  return roundFloat(builder, number, to);
}

/// Towards zero; what is out of range becomes the nearest integer, and NaN 0.
Value toInteger(CodeBuilder &builder, Value value, bool isSigned, Type to) {
  ImplicitLocOpBuilder &b = builder.b;
  value = widenFloat(builder, value);
  std::string name = isSigned ? "llvm.fptosi.sat.i" : "llvm.fptoui.sat.i";
  name += std::to_string(to.getIntOrFloatBitWidth());
  name += value.getType().isF64() ? ".f64" : ".f32";
  return b.create<LLVM::CallIntrinsicOp>(to, b.getStringAttr(name), value)
      .getResult(0);
}

Value toReal(CodeBuilder &builder, Value value, Type from, Type to) {
  ImplicitLocOpBuilder &b = builder.b;
  ElementKind source = getElementKind(from), target = getElementKind(to);
  if (target == ElementKind::Bool)
    return isNotZero(builder, value);
  if (source == ElementKind::Float)
    return target == ElementKind::Float
               ? roundFloat(builder, widenFloat(builder, value), to)
               : toInteger(builder, value, target == ElementKind::Signed,
                           getValueType(to));
  bool isSigned = source == ElementKind::Signed;
  if (target == ElementKind::Float)
    return toFloat(builder, value, isSigned, to);
  Type type = getValueType(to);
  unsigned fromBits = value.getType().getIntOrFloatBitWidth();
  unsigned toBits = type.getIntOrFloatBitWidth();
  if (fromBits == toBits)
    return value;
  if (fromBits > toBits)
    return b.create<arith::TruncIOp>(type, value);
  return isSigned ? b.create<arith::ExtSIOp>(type, value).getResult()
                  : b.create<arith::ExtUIOp>(type, value).getResult();
}
} // namespace

Value alula::kernel::convertScalar(CodeBuilder &builder, Operation *,
                                   Value value, Type from, Type to) {
  ImplicitLocOpBuilder &b = builder.b;
  if (from == to)
    return value;
  auto source = dyn_cast<ComplexType>(from);
  auto target = dyn_cast<ComplexType>(to);
  if (!source && !target)
    return toReal(builder, value, from, to);
  Value real = source ? b.create<complex::ReOp>(value).getResult() : value;
  Type part = source ? source.getElementType() : from;
  // To truth values too: the imaginary part is dropped.
  if (!target)
    return toReal(builder, real, part, to);
  Value imaginary =
      source ? b.create<complex::ImOp>(value).getResult() : Value();
  real = toReal(builder, real, part, target.getElementType());
  imaginary = source ? toReal(builder, imaginary, part, target.getElementType())
                     : builder.zero(target.getElementType());
  return b.create<complex::CreateOp>(target, real, imaginary);
}
