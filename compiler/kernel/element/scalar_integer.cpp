// Arithmetic of integers and truth values.

#include "compiler/kernel/element/element_form.h"
#include "compiler/kernel/element/scalar.h"

#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace alula::kernel;
using Predicate = arith::CmpIPredicate;

namespace {
class IntegerEmitter {
public:
  IntegerEmitter(CodeBuilder &builder, Operation *op, ValueRange args)
      : builder(builder), b(builder.b), op(op), args(args),
        kind(getElementKind(getElementType(op->getOperand(0)))),
        isSigned(kind == ElementKind::Signed) {}

  Value emit();

private:
  template <typename Op> Value binary() { return b.create<Op>(args[0], args[1]); }
  Value number(int64_t value) {
    return makeInteger(builder, args[0].getType(), value);
  }
  Value compare(Predicate predicate, Value a, Value other) {
    return b.create<arith::CmpIOp>(predicate, a, other);
  }
  Value select(Value condition, Value a, Value other) {
    return b.create<arith::SelectOp>(condition, a, other);
  }
  int64_t getWidth() { return args[0].getType().getIntOrFloatBitWidth(); }

  Value divide(bool wantsRemainder);
  Value compare(stablehlo::CompareOp compareOp);
  Value max(Value a, Value other);
  Value min(Value a, Value other);
  Value power();
  Value shift();
  Value sign();

  CodeBuilder &builder;
  ImplicitLocOpBuilder &b;
  Operation *op;
  ValueRange args;
  ElementKind kind;
  bool isSigned;
};

// Division by zero gives all ones (or the dividend) and INT_MIN / -1 wraps; the
// machine's instruction would trap on both, so it is given a harmless divisor.
Value IntegerEmitter::divide(bool wantsRemainder) {
  Value zero = number(0), one = number(1), minusOne = number(-1);
  Value byZero = compare(Predicate::eq, args[1], zero);
  Value divisor = select(byZero, one, args[1]);
  if (!isSigned)
    return wantsRemainder
               ? select(byZero, args[0],
                        b.create<arith::RemUIOp>(args[0], divisor))
               : select(byZero, minusOne,
                        b.create<arith::DivUIOp>(args[0], divisor));
  Value byMinusOne = compare(Predicate::eq, args[1], minusOne);
  divisor = select(byMinusOne, one, divisor);
  if (wantsRemainder)
    return select(byZero, args[0], b.create<arith::RemSIOp>(args[0], divisor));
  Value quotient = b.create<arith::DivSIOp>(args[0], divisor);
  Value negated = b.create<arith::SubIOp>(zero, args[0]);
  return select(byZero, minusOne, select(byMinusOne, negated, quotient));
}

Value IntegerEmitter::max(Value a, Value other) {
  return isSigned ? b.create<arith::MaxSIOp>(a, other).getResult()
                  : b.create<arith::MaxUIOp>(a, other).getResult();
}

Value IntegerEmitter::min(Value a, Value other) {
  return isSigned ? b.create<arith::MinSIOp>(a, other).getResult()
                  : b.create<arith::MinUIOp>(a, other).getResult();
}

Value IntegerEmitter::compare(stablehlo::CompareOp compareOp) {
  static constexpr Predicate ofSigned[] = {Predicate::eq,  Predicate::ne,
                                           Predicate::sge, Predicate::sgt,
                                           Predicate::sle, Predicate::slt};
  static constexpr Predicate ofUnsigned[] = {Predicate::eq,  Predicate::ne,
                                             Predicate::uge, Predicate::ugt,
                                             Predicate::ule, Predicate::ult};
  using Direction = stablehlo::ComparisonDirection;
  static_assert(static_cast<unsigned>(Direction::EQ) == 0 &&
                static_cast<unsigned>(Direction::LT) == 5);
  auto index = static_cast<unsigned>(compareOp.getComparisonDirection());
  return compare(isSigned ? ofSigned[index] : ofUnsigned[index], args[0],
                 args[1]);
}

// By squaring: the low bits of the exponent decide which squares are factors.
// A negative exponent gives 0, but for the bases 1 and -1.
Value IntegerEmitter::power() {
  if (kind == ElementKind::Bool)
    return b.create<arith::OrIOp>(
        args[0], b.create<arith::XOrIOp>(args[1], number(1)));
  Value result = number(1), base = args[0], exponent = args[1];
  for (int64_t bit = 0, width = getWidth(); bit < width; ++bit) {
    Value isSet = compare(Predicate::ne,
                          b.create<arith::AndIOp>(exponent, number(1)),
                          number(0));
    result = select(isSet, b.create<arith::MulIOp>(result, base), result);
    base = b.create<arith::MulIOp>(base, base);
    exponent = b.create<arith::ShRUIOp>(exponent, number(1));
  }
  if (!isSigned)
    return result;
  Value isOne = compare(Predicate::eq, args[0], number(1));
  Value isMinusOne = compare(Predicate::eq, args[0], number(-1));
  Value isOdd = compare(Predicate::ne,
                        b.create<arith::AndIOp>(args[1], number(1)), number(0));
  Value unit = select(isOdd, number(-1), number(1));
  Value inverse =
      select(isOne, number(1), select(isMinusOne, unit, number(0)));
  Value isNegative = compare(Predicate::slt, args[1], number(0));
  return select(isNegative, inverse, result);
}

// A shift by the width or more leaves nothing, or the sign.
Value IntegerEmitter::shift() {
  // The width itself may not be a number of the type.
  Value inRange = compare(Predicate::ule, args[1], number(getWidth() - 1));
  if (isa<stablehlo::ShiftRightArithmeticOp>(op))
    return b.create<arith::ShRSIOp>(
        args[0], select(inRange, args[1], number(getWidth() - 1)));
  Value amount = select(inRange, args[1], number(0));
  Value shifted = isa<stablehlo::ShiftLeftOp>(op)
                      ? b.create<arith::ShLIOp>(args[0], amount).getResult()
                      : b.create<arith::ShRUIOp>(args[0], amount).getResult();
  return select(inRange, shifted, number(0));
}

Value IntegerEmitter::sign() {
  Value zero = number(0);
  if (!isSigned)
    return select(compare(Predicate::ne, args[0], zero), number(1), zero);
  Value positive = compare(Predicate::sgt, args[0], zero);
  Value negative = compare(Predicate::slt, args[0], zero);
  return select(positive, number(1), select(negative, number(-1), zero));
}

Value IntegerEmitter::emit() {
  bool isBool = kind == ElementKind::Bool;
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](stablehlo::AddOp) {
        return isBool ? binary<arith::OrIOp>() : binary<arith::AddIOp>();
      })
      .Case([&](stablehlo::SubtractOp) { return binary<arith::SubIOp>(); })
      .Case([&](stablehlo::MulOp) {
        return isBool ? binary<arith::AndIOp>() : binary<arith::MulIOp>();
      })
      .Case([&](stablehlo::DivOp) { return divide(/*wantsRemainder=*/false); })
      .Case([&](stablehlo::RemOp) { return divide(/*wantsRemainder=*/true); })
      .Case([&](stablehlo::MaxOp) { return max(args[0], args[1]); })
      .Case([&](stablehlo::MinOp) { return min(args[0], args[1]); })
      .Case([&](stablehlo::PowOp) { return power(); })
      .Case([&](stablehlo::AndOp) { return binary<arith::AndIOp>(); })
      .Case([&](stablehlo::OrOp) { return binary<arith::OrIOp>(); })
      .Case([&](stablehlo::XorOp) { return binary<arith::XOrIOp>(); })
      .Case<stablehlo::ShiftLeftOp, stablehlo::ShiftRightArithmeticOp,
            stablehlo::ShiftRightLogicalOp>([&](auto) { return shift(); })
      .Case([&](stablehlo::NotOp) {
        return Value(b.create<arith::XOrIOp>(args[0], number(-1)));
      })
      .Case([&](stablehlo::NegOp) {
        return Value(b.create<arith::SubIOp>(number(0), args[0]));
      })
      .Case([&](stablehlo::AbsOp) {
        return isSigned ? Value(b.create<math::AbsIOp>(args[0])) : args[0];
      })
      .Case([&](stablehlo::ClzOp) {
        return Value(b.create<math::CountLeadingZerosOp>(args[0]));
      })
      .Case([&](stablehlo::PopulationCountOp) {
        return Value(b.create<math::CtPopOp>(args[0]));
      })
      .Case([&](stablehlo::SignOp) { return sign(); })
      .Case([&](stablehlo::CompareOp compareOp) { return compare(compareOp); })
      .Case([&](stablehlo::ClampOp) {
        return min(max(args[0], args[1]), args[2]);
      })
      .Default([&](Operation *) {
        Type element = getElementType(op->getOperand(0));
        return builder.decline(op,
                               "for elements of type " + debugString(element),
                               getValueType(getElementType(op->getResult(0))));
      });
}
} // namespace

Value alula::kernel::makeInteger(CodeBuilder &builder, Type type,
                                 int64_t value) {
  return builder.b.create<arith::ConstantOp>(
      builder.b.getIntegerAttr(type, value));
}

Value alula::kernel::lowerIntegerScalar(CodeBuilder &builder, Operation *op,
                                        ValueRange arguments) {
  return IntegerEmitter(builder, op, arguments).emit();
}
