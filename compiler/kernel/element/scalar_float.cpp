// Arithmetic of real numbers. Types narrower than f32 are computed in f32 and
// rounded after each op.

#include "compiler/kernel/element/element_form.h"
#include "compiler/kernel/element/scalar.h"

#include "dialect/chlo/ops.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace alula::kernel;

Value alula::kernel::makeNumber(CodeBuilder &builder, Type type, double value) {
  return builder.b.create<arith::ConstantOp>(
      builder.b.getFloatAttr(type, value));
}

Value alula::kernel::widenFloat(CodeBuilder &builder, Value value) {
  if (value.getType().getIntOrFloatBitWidth() >= 32)
    return value;
  return builder.b.create<arith::ExtFOp>(builder.b.getF32Type(), value);
}

Value alula::kernel::roundFloat(CodeBuilder &builder, Value value,
                                Type element) {
  ImplicitLocOpBuilder &b = builder.b;
  Type to = getValueType(element), from = value.getType();
  if (isSmallFloat(element)) {
    std::string suffix = from.isF64() ? "_f64" : "";
    std::string name = getLibraryName(element);
    Value code = builder.callLibrary("alula_encode_" + name + suffix,
                                     b.getI32Type(), value);
    return builder.callLibrary("alula_decode_" + name, to, code);
  }
  if (from == to)
    return value;
  if (from.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth())
    return b.create<arith::ExtFOp>(to, value);
  return b.create<arith::TruncFOp>(to, value);
}

namespace {
/// The library's name of a function of one number; empty for other ops.
StringRef getFunctionName(Operation *op) {
  return llvm::TypeSwitch<Operation *, StringRef>(op)
      .Case([](stablehlo::CbrtOp) { return "cbrt"; })
      .Case([](stablehlo::CosineOp) { return "cos"; })
      .Case([](chlo::ErfOp) { return "erf"; })
      .Case([](chlo::ErfcOp) { return "erfc"; })
      .Case([](stablehlo::ExpOp) { return "exp"; })
      .Case([](stablehlo::Expm1Op) { return "expm1"; })
      .Case([](stablehlo::LogOp) { return "log"; })
      .Case([](stablehlo::Log1pOp) { return "log1p"; })
      .Case([](stablehlo::LogisticOp) { return "logistic"; })
      .Case([](stablehlo::SineOp) { return "sin"; })
      .Case([](stablehlo::TanOp) { return "tan"; })
      .Case([](stablehlo::TanhOp) { return "tanh"; })
      .Case([](stablehlo::Atan2Op) { return "atan2"; })
      .Case([](stablehlo::PowOp) { return "pow"; })
      .Case([](stablehlo::RemOp) { return "remainder"; })
      .Default([](Operation *) { return ""; });
}

class FloatEmitter {
public:
  FloatEmitter(CodeBuilder &builder, Operation *op, ValueRange narrow)
      : builder(builder), b(builder.b), op(op),
        element(getElementType(op->getOperand(0))) {
    for (Value argument : narrow)
      args.push_back(widenFloat(builder, argument));
    type = args[0].getType();
  }

  Value emit() {
    if (auto compareOp = dyn_cast<stablehlo::CompareOp>(op))
      return compare(compareOp);
    if (isa<stablehlo::IsFiniteOp>(op)) {
      Value size = b.create<math::AbsFOp>(args[0]);
      return b.create<arith::CmpFOp>(
          arith::CmpFPredicate::OLT, size,
          number(std::numeric_limits<double>::infinity()));
    }
    if (auto reduce = dyn_cast<stablehlo::ReducePrecisionOp>(op))
      return reducePrecision(reduce);
    Value wide = compute();
    if (!wide)
      return builder.decline(op, "for elements of type " + debugString(element),
                             getValueType(getElementType(op->getResult(0))));
    return roundFloat(builder, wide, element);
  }

private:
  Value compute();
  template <typename Op> Value binary() { return b.create<Op>(args[0], args[1]); }
  template <typename Op> Value unary() { return b.create<Op>(args[0]); }
  Value number(double value) { return makeNumber(builder, type, value); }
  Value max(Value a, Value other) { return b.create<arith::MaximumFOp>(a, other); }
  Value min(Value a, Value other) { return b.create<arith::MinimumFOp>(a, other); }

  Value compare(stablehlo::CompareOp compareOp);
  Value reducePrecision(stablehlo::ReducePrecisionOp reduce);
  Value totalOrder(Value value);
  Value roundAwayFromZero();
  Value sign();

  CodeBuilder &builder;
  ImplicitLocOpBuilder &b;
  Operation *op;
  Type element, type;
  SmallVector<Value> args;
};

// The bits as a signed integer, with the negative ones turned round.
Value FloatEmitter::totalOrder(Value value) {
  Type bitsType = b.getIntegerType(type.getIntOrFloatBitWidth());
  Value bits = b.create<arith::BitcastOp>(bitsType, value);
  auto width = static_cast<int64_t>(type.getIntOrFloatBitWidth());
  Value sign =
      b.create<arith::ShRSIOp>(bits, makeInteger(builder, bitsType, width - 1));
  Value mask =
      b.create<arith::ShRUIOp>(sign, makeInteger(builder, bitsType, 1));
  return b.create<arith::XOrIOp>(bits, mask);
}

Value FloatEmitter::compare(stablehlo::CompareOp compareOp) {
  using Direction = stablehlo::ComparisonDirection;
  static_assert(static_cast<unsigned>(Direction::EQ) == 0 &&
                static_cast<unsigned>(Direction::LT) == 5);
  auto index = static_cast<unsigned>(compareOp.getComparisonDirection());
  if (compareOp.getCompareType() == stablehlo::ComparisonType::TOTALORDER) {
    static constexpr arith::CmpIPredicate predicates[] = {
        arith::CmpIPredicate::eq,  arith::CmpIPredicate::ne,
        arith::CmpIPredicate::sge, arith::CmpIPredicate::sgt,
        arith::CmpIPredicate::sle, arith::CmpIPredicate::slt};
    return b.create<arith::CmpIOp>(predicates[index], totalOrder(args[0]),
                                   totalOrder(args[1]));
  }
  static constexpr arith::CmpFPredicate predicates[] = {
      arith::CmpFPredicate::OEQ, arith::CmpFPredicate::UNE,
      arith::CmpFPredicate::OGE, arith::CmpFPredicate::OGT,
      arith::CmpFPredicate::OLE, arith::CmpFPredicate::OLT};
  return b.create<arith::CmpFOp>(predicates[index], args[0], args[1]);
}

// On the bits: the mantissa is rounded to the nearest even one, then exponents
// that the smaller format lacks become infinity or zero.
Value FloatEmitter::reducePrecision(stablehlo::ReducePrecisionOp reduce) {
  // A small float is an f32 here; its own format limits it anyway.
  Type own = isSmallFloat(element) ? type : element;
  auto &semantics = cast<FloatType>(own).getFloatSemantics();
  auto width = static_cast<int64_t>(own.getIntOrFloatBitWidth());
  auto mantissaBits =
      static_cast<int64_t>(llvm::APFloat::semanticsPrecision(semantics)) - 1;
  int64_t exponentBits = width - 1 - mantissaBits;
  int64_t wantedMantissa = reduce.getMantissaBits();
  int64_t wantedExponent = reduce.getExponentBits();

  Type bitsType = b.getIntegerType(static_cast<unsigned>(width));
  auto integer = [&](uint64_t value) {
    return makeInteger(builder, bitsType, static_cast<int64_t>(value));
  };
  Value source = roundFloat(builder, args[0], own);
  Value bits = b.create<arith::BitcastOp>(bitsType, source);
  if (wantedMantissa < mantissaBits) {
    int64_t dropped = mantissaBits - wantedMantissa;
    Value last = b.create<arith::AndIOp>(
        b.create<arith::ShRUIOp>(bits, integer(static_cast<uint64_t>(dropped))),
        integer(1));
    Value half = b.create<arith::AddIOp>(
        last, integer((uint64_t(1) << (dropped - 1)) - 1));
    bits = b.create<arith::AndIOp>(b.create<arith::AddIOp>(bits, half),
                                   integer(~((uint64_t(1) << dropped) - 1)));
  }
  if (wantedExponent < exponentBits) {
    uint64_t signMask = uint64_t(1) << (width - 1);
    uint64_t infinity = ((uint64_t(1) << exponentBits) - 1) << mantissaBits;
    uint64_t bias = (uint64_t(1) << (exponentBits - 1)) - 1;
    uint64_t wantedBias = (uint64_t(1) << (wantedExponent - 1)) - 1;
    Value exponent = b.create<arith::AndIOp>(bits, integer(infinity));
    Value sign = b.create<arith::AndIOp>(bits, integer(signMask));
    Value isTooLarge = b.create<arith::CmpIOp>(
        arith::CmpIPredicate::ugt, exponent,
        integer((bias + wantedBias) << mantissaBits));
    Value isTooSmall = b.create<arith::CmpIOp>(
        arith::CmpIPredicate::ule, exponent,
        integer((bias - wantedBias) << mantissaBits));
    bits = b.create<arith::SelectOp>(
        isTooLarge, b.create<arith::OrIOp>(sign, integer(infinity)), bits);
    bits = b.create<arith::SelectOp>(isTooSmall, sign, bits);
  }
  Value reduced = b.create<arith::BitcastOp>(own, bits);
  Value isNumber = b.create<arith::CmpFOp>(arith::CmpFPredicate::ORD, args[0],
                                           args[0]);
  // A format without a mantissa has no NaN.
  Value nan = source;
  if (!wantedMantissa && mantissaBits)
    nan = makeNumber(builder, own, std::numeric_limits<double>::infinity());
  reduced = b.create<arith::SelectOp>(isNumber, reduced, nan);
  return roundFloat(builder, widenFloat(builder, reduced), element);
}

// Adding the number below 0.5 moves exactly those up that are half way or more.
Value FloatEmitter::roundAwayFromZero() {
  double belowHalf = type.isF64() ? 0.49999999999999994 : 0.49999997f;
  Value half = b.create<math::CopySignOp>(number(belowHalf), args[0]);
  Value rounded =
      b.create<math::TruncOp>(b.create<arith::AddFOp>(args[0], half));
  return b.create<math::CopySignOp>(rounded, args[0]);
}

// Zero and NaN are their own sign.
Value FloatEmitter::sign() {
  Value one = b.create<math::CopySignOp>(number(1), args[0]);
  Value isSelf =
      b.create<arith::CmpFOp>(arith::CmpFPredicate::UEQ, args[0], number(0));
  return b.create<arith::SelectOp>(isSelf, args[0], one);
}

Value FloatEmitter::compute() {
  if (StringRef name = getFunctionName(op); !name.empty())
    return builder.callLibrary(
        "alula_" + name + (type.isF64() ? "_f64" : "_f32"), type, args);
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](stablehlo::AddOp) { return binary<arith::AddFOp>(); })
      .Case([&](stablehlo::SubtractOp) { return binary<arith::SubFOp>(); })
      .Case([&](stablehlo::MulOp) { return binary<arith::MulFOp>(); })
      .Case([&](stablehlo::DivOp) { return binary<arith::DivFOp>(); })
      .Case([&](stablehlo::MaxOp) { return max(args[0], args[1]); })
      .Case([&](stablehlo::MinOp) { return min(args[0], args[1]); })
      .Case([&](stablehlo::ClampOp) {
        return min(max(args[0], args[1]), args[2]);
      })
      .Case([&](stablehlo::NegOp) { return unary<arith::NegFOp>(); })
      .Case([&](stablehlo::AbsOp) { return unary<math::AbsFOp>(); })
      .Case([&](stablehlo::SignOp) { return sign(); })
      .Case([&](stablehlo::SqrtOp) { return unary<math::SqrtOp>(); })
      .Case([&](stablehlo::RsqrtOp) {
        return Value(b.create<arith::DivFOp>(number(1), unary<math::SqrtOp>()));
      })
      .Case([&](stablehlo::FloorOp) { return unary<math::FloorOp>(); })
      .Case([&](stablehlo::CeilOp) { return unary<math::CeilOp>(); })
      .Case([&](stablehlo::RoundOp) { return roundAwayFromZero(); })
      .Case([&](stablehlo::RoundNearestEvenOp) {
        return unary<math::RoundEvenOp>();
      })
      .Default([](Operation *) { return Value(); });
}
} // namespace

Value alula::kernel::lowerFloatScalar(CodeBuilder &builder, Operation *op,
                                      ValueRange arguments) {
  return FloatEmitter(builder, op, arguments).emit();
}
