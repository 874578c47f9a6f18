// Lowers ops that work on each element by itself, and scalar bodies.

#include "compiler/dispatch/lowering.h"

#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace alula::dispatch;

namespace {
/// What an element is before it lost its sign.
enum class Kind { Bool, Signed, Unsigned, Float };

Kind getKind(Value value) {
  Type type = getElementTypeOrSelf(value.getType());
  if (type.isInteger(1))
    return Kind::Bool;
  if (auto integer = dyn_cast<IntegerType>(type))
    return integer.isUnsigned() ? Kind::Unsigned : Kind::Signed;
  return Kind::Float;
}

/// Emits the arithmetic of one element.
class ScalarEmitter {
public:
  ScalarEmitter(OpBuilder &builder, Operation *op, ValueRange args)
      : builder(builder), op(op), location(op->getLoc()), args(args),
        kind(op->getNumOperands() ? getKind(op->getOperand(0)) : Kind::Float) {}

  Value emit();

private:
  template <typename Op> Value binary() {
    return builder.create<Op>(location, args[0], args[1]);
  }
  template <typename Op> Value unary() {
    return builder.create<Op>(location, args[0]);
  }
  Value number(double value) {
    return builder.create<arith::ConstantOp>(
        location, builder.getFloatAttr(args[0].getType(), value));
  }
  Value integer(int64_t value) {
    return builder.create<arith::ConstantOp>(
        location, builder.getIntegerAttr(args[0].getType(), value));
  }
  Value compareInts(arith::CmpIPredicate predicate, Value a, Value b) {
    return builder.create<arith::CmpIOp>(location, predicate, a, b);
  }
  Value select(Value condition, Value a, Value b) {
    return builder.create<arith::SelectOp>(location, condition, a, b);
  }

  Value add();
  Value multiply();
  Value divide();
  Value remainder();
  Value minMax(bool isMax);
  Value minMax(bool isMax, Value a, Value b, Kind kindOfBoth);
  Value compare(stablehlo::CompareOp compareOp);
  Value convert();
  Value shift();
  Value sign();

  OpBuilder &builder;
  Operation *op;
  Location location;
  ValueRange args;
  Kind kind;
};

Value ScalarEmitter::add() {
  if (kind == Kind::Float)
    return binary<arith::AddFOp>();
  return kind == Kind::Bool ? binary<arith::OrIOp>() : binary<arith::AddIOp>();
}

Value ScalarEmitter::multiply() {
  if (kind == Kind::Float)
    return binary<arith::MulFOp>();
  return kind == Kind::Bool ? binary<arith::AndIOp>() : binary<arith::MulIOp>();
}

// Division by zero gives all ones and INT_MIN / -1 wraps; the machine's
// instruction would trap on both, so it is given a harmless divisor.
Value ScalarEmitter::divide() {
  if (kind == Kind::Float)
    return binary<arith::DivFOp>();
  Value zero = integer(0), one = integer(1), minusOne = integer(-1);
  Value byZero = compareInts(arith::CmpIPredicate::eq, args[1], zero);
  Value divisor = select(byZero, one, args[1]);
  Value quotient;
  if (kind == Kind::Signed) {
    Value byMinusOne = compareInts(arith::CmpIPredicate::eq, args[1], minusOne);
    divisor = select(byMinusOne, one, divisor);
    quotient = builder.create<arith::DivSIOp>(location, args[0], divisor);
    Value negated = builder.create<arith::SubIOp>(location, zero, args[0]);
    quotient = select(byMinusOne, negated, quotient);
  } else {
    quotient = builder.create<arith::DivUIOp>(location, args[0], divisor);
  }
  return select(byZero, minusOne, quotient);
}

Value ScalarEmitter::remainder() {
  if (kind == Kind::Float)
    return {};
  Value zero = integer(0), one = integer(1), minusOne = integer(-1);
  Value byZero = compareInts(arith::CmpIPredicate::eq, args[1], zero);
  Value divisor = select(byZero, one, args[1]);
  Value rest;
  if (kind == Kind::Signed) {
    Value byMinusOne = compareInts(arith::CmpIPredicate::eq, args[1], minusOne);
    divisor = select(byMinusOne, one, divisor);
    rest = builder.create<arith::RemSIOp>(location, args[0], divisor);
  } else {
    rest = builder.create<arith::RemUIOp>(location, args[0], divisor);
  }
  return select(byZero, args[0], rest);
}

Value ScalarEmitter::minMax(bool isMax, Value a, Value b, Kind kindOfBoth) {
  switch (kindOfBoth) {
  case Kind::Float:
    return isMax ? builder.create<arith::MaximumFOp>(location, a, b).getResult()
                 : builder.create<arith::MinimumFOp>(location, a, b).getResult();
  case Kind::Signed:
    return isMax ? builder.create<arith::MaxSIOp>(location, a, b).getResult()
                 : builder.create<arith::MinSIOp>(location, a, b).getResult();
  case Kind::Unsigned:
    return isMax ? builder.create<arith::MaxUIOp>(location, a, b).getResult()
                 : builder.create<arith::MinUIOp>(location, a, b).getResult();
  case Kind::Bool:
    return isMax ? builder.create<arith::OrIOp>(location, a, b).getResult()
                 : builder.create<arith::AndIOp>(location, a, b).getResult();
  }
  llvm_unreachable("every kind is a case");
}

Value ScalarEmitter::minMax(bool isMax) {
  return minMax(isMax, args[0], args[1], kind);
}

Value ScalarEmitter::compare(stablehlo::CompareOp compareOp) {
  using Direction = stablehlo::ComparisonDirection;
  auto direction = compareOp.getComparisonDirection();
  if (kind == Kind::Float) {
    if (compareOp.getCompareType() == stablehlo::ComparisonType::TOTALORDER)
      return {};
    static constexpr arith::CmpFPredicate predicates[] = {
        arith::CmpFPredicate::OEQ, arith::CmpFPredicate::UNE,
        arith::CmpFPredicate::OGE, arith::CmpFPredicate::OGT,
        arith::CmpFPredicate::OLE, arith::CmpFPredicate::OLT};
    return builder.create<arith::CmpFOp>(
        location, predicates[static_cast<unsigned>(direction)], args[0],
        args[1]);
  }
  static constexpr arith::CmpIPredicate ofSigned[] = {
      arith::CmpIPredicate::eq,  arith::CmpIPredicate::ne,
      arith::CmpIPredicate::sge, arith::CmpIPredicate::sgt,
      arith::CmpIPredicate::sle, arith::CmpIPredicate::slt};
  static constexpr arith::CmpIPredicate ofUnsigned[] = {
      arith::CmpIPredicate::eq,  arith::CmpIPredicate::ne,
      arith::CmpIPredicate::uge, arith::CmpIPredicate::ugt,
      arith::CmpIPredicate::ule, arith::CmpIPredicate::ult};
  static_assert(static_cast<unsigned>(Direction::EQ) == 0 &&
                static_cast<unsigned>(Direction::LT) == 5);
  auto index = static_cast<unsigned>(direction);
  return compareInts(kind == Kind::Signed ? ofSigned[index] : ofUnsigned[index],
                     args[0], args[1]);
}

Value ScalarEmitter::convert() {
  Type to = lowerType(getElementTypeOrSelf(op->getResult(0).getType()));
  if (!to)
    return {};
  Kind target = getKind(op->getResult(0));
  Type from = args[0].getType();
  if (target == Kind::Bool) {
    if (kind == Kind::Float)
      return builder.create<arith::CmpFOp>(location, arith::CmpFPredicate::UNE,
                                           args[0], number(0));
    return compareInts(arith::CmpIPredicate::ne, args[0], integer(0));
  }
  if (from == to)
    return args[0];
  if (kind == Kind::Float && target == Kind::Float) {
    if (from.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth())
      return builder.create<arith::ExtFOp>(location, to, args[0]);
    if (from.getIntOrFloatBitWidth() > to.getIntOrFloatBitWidth())
      return builder.create<arith::TruncFOp>(location, to, args[0]);
    // f16 and bf16 have no common instruction: by way of f32.
    Value wide =
        builder.create<arith::ExtFOp>(location, builder.getF32Type(), args[0]);
    return builder.create<arith::TruncFOp>(location, to, wide);
  }
  if (target == Kind::Float)
    return kind == Kind::Signed
               ? builder.create<arith::SIToFPOp>(location, to, args[0]).getResult()
               : builder.create<arith::UIToFPOp>(location, to, args[0]).getResult();
  // Out of range is undefined for the plain instruction.
  if (kind == Kind::Float)
    return {};
  if (from.getIntOrFloatBitWidth() > to.getIntOrFloatBitWidth())
    return builder.create<arith::TruncIOp>(location, to, args[0]);
  return kind == Kind::Signed
             ? builder.create<arith::ExtSIOp>(location, to, args[0]).getResult()
             : builder.create<arith::ExtUIOp>(location, to, args[0]).getResult();
}

// A shift by the width or more leaves nothing, or the sign.
Value ScalarEmitter::shift() {
  auto width = static_cast<int64_t>(args[0].getType().getIntOrFloatBitWidth());
  Value inRange =
      compareInts(arith::CmpIPredicate::ult, args[1], integer(width));
  if (isa<stablehlo::ShiftRightArithmeticOp>(op)) {
    Value amount = select(inRange, args[1], integer(width - 1));
    return builder.create<arith::ShRSIOp>(location, args[0], amount);
  }
  Value amount = select(inRange, args[1], integer(0));
  Value shifted =
      isa<stablehlo::ShiftLeftOp>(op)
          ? builder.create<arith::ShLIOp>(location, args[0], amount).getResult()
          : builder.create<arith::ShRUIOp>(location, args[0], amount).getResult();
  return select(inRange, shifted, integer(0));
}

Value ScalarEmitter::sign() {
  if (kind == Kind::Float) {
    Value one = builder.create<math::CopySignOp>(location, number(1), args[0]);
    // Zero and NaN are their own sign.
    Value isSelf = builder.create<arith::CmpFOp>(
        location, arith::CmpFPredicate::UEQ, args[0], number(0));
    return select(isSelf, args[0], one);
  }
  Value positive = compareInts(arith::CmpIPredicate::sgt, args[0], integer(0));
  Value negative = compareInts(arith::CmpIPredicate::slt, args[0], integer(0));
  return select(positive, integer(1),
                select(negative, integer(-1), integer(0)));
}

Value ScalarEmitter::emit() {
  bool isFloat = kind == Kind::Float;
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](stablehlo::AddOp) { return add(); })
      .Case([&](stablehlo::SubtractOp) {
        return isFloat ? binary<arith::SubFOp>() : binary<arith::SubIOp>();
      })
      .Case([&](stablehlo::MulOp) { return multiply(); })
      .Case([&](stablehlo::DivOp) { return divide(); })
      .Case([&](stablehlo::RemOp) { return remainder(); })
      .Case([&](stablehlo::MaxOp) { return minMax(/*isMax=*/true); })
      .Case([&](stablehlo::MinOp) { return minMax(/*isMax=*/false); })
      .Case([&](stablehlo::AndOp) { return binary<arith::AndIOp>(); })
      .Case([&](stablehlo::OrOp) { return binary<arith::OrIOp>(); })
      .Case([&](stablehlo::XorOp) { return binary<arith::XOrIOp>(); })
      .Case<stablehlo::ShiftLeftOp, stablehlo::ShiftRightArithmeticOp,
            stablehlo::ShiftRightLogicalOp>([&](auto) { return shift(); })
      .Case([&](stablehlo::NotOp) {
        return Value(builder.create<arith::XOrIOp>(location, args[0],
                                                   integer(-1)));
      })
      .Case([&](stablehlo::NegOp) {
        if (isFloat)
          return unary<arith::NegFOp>();
        return Value(
            builder.create<arith::SubIOp>(location, integer(0), args[0]));
      })
      .Case([&](stablehlo::AbsOp) {
        return isFloat ? unary<math::AbsFOp>() : unary<math::AbsIOp>();
      })
      .Case([&](stablehlo::SignOp) { return sign(); })
      .Case([&](stablehlo::CompareOp compareOp) { return compare(compareOp); })
      .Case([&](stablehlo::SelectOp) { return select(args[0], args[1], args[2]); })
      .Case([&](stablehlo::ClampOp) {
        Value low = minMax(/*isMax=*/true, args[0], args[1], kind);
        return minMax(/*isMax=*/false, low, args[2], kind);
      })
      .Case([&](stablehlo::ConvertOp) { return convert(); })
      .Case([&](stablehlo::ExpOp) { return unary<math::ExpOp>(); })
      .Case([&](stablehlo::LogOp) { return unary<math::LogOp>(); })
      .Case([&](stablehlo::TanhOp) { return unary<math::TanhOp>(); })
      .Case([&](stablehlo::SqrtOp) { return unary<math::SqrtOp>(); })
      .Case([&](stablehlo::RsqrtOp) {
        Value root = unary<math::SqrtOp>();
        return Value(builder.create<arith::DivFOp>(location, number(1), root));
      })
      .Case([&](stablehlo::FloorOp) { return unary<math::FloorOp>(); })
      .Case([&](stablehlo::CeilOp) { return unary<math::CeilOp>(); })
      .Case([&](stablehlo::LogisticOp) {
        Value negated = unary<arith::NegFOp>();
        Value exp = builder.create<math::ExpOp>(location, negated);
        Value sum = builder.create<arith::AddFOp>(location, exp, number(1));
        return Value(builder.create<arith::DivFOp>(location, number(1), sum));
      })
      .Default([](Operation *) { return Value(); });
}
} // namespace

Value alula::dispatch::lowerScalar(OpBuilder &builder, Operation *op,
                                   ValueRange operands) {
  for (Value operand : op->getOperands())
    if (!lowerType(getElementTypeOrSelf(operand.getType()))) {
      (void)declineOp(op, "for elements of type " +
                              debugString(getElementTypeOrSelf(operand.getType())));
      return {};
    }
  Value result = ScalarEmitter(builder, op, operands).emit();
  if (!result)
    (void)declineOp(op, op->getNumOperands()
                            ? "for elements of type " +
                                  debugString(getElementTypeOrSelf(
                                      op->getOperand(0).getType()))
                            : Twine("for this op").str());
  return result;
}

FailureOr<SmallVector<Value>>
alula::dispatch::lowerScalarBody(OpBuilder &builder, Block &block,
                                 ValueRange arguments) {
  IRMapping mapping;
  mapping.map(block.getArguments(), arguments);
  for (Operation &op : block.without_terminator()) {
    if (auto constant = dyn_cast<stablehlo::ConstantOp>(op)) {
      auto value = dyn_cast<DenseElementsAttr>(constant.getValue());
      Type element = lowerType(getElementTypeOrSelf(constant.getType()));
      if (!value || !element)
        return declineOp(&op, "constants of this kind");
      if (isa<IntegerType>(element))
        value = value.bitcast(element);
      mapping.map(constant.getResult(),
                  builder
                      .create<arith::ConstantOp>(
                          op.getLoc(), value.getSplatValue<TypedAttr>())
                      .getResult());
      continue;
    }
    SmallVector<Value> operands;
    for (Value operand : op.getOperands()) {
      Value lowered = mapping.lookupOrNull(operand);
      if (!lowered)
        return declineOp(&op, "for a value from outside its body");
      operands.push_back(lowered);
    }
    if (op.getNumResults() != 1)
      return declineOp(&op, "in the body of a reduction");
    Value result = lowerScalar(builder, &op, operands);
    if (!result)
      return failure();
    mapping.map(op.getResult(0), result);
  }
  SmallVector<Value> results;
  for (Value operand : block.getTerminator()->getOperands()) {
    Value lowered = mapping.lookupOrNull(operand);
    if (!lowered)
      return declineOp(block.getTerminator(),
                       "for a value from outside its body");
    results.push_back(lowered);
  }
  return results;
}

LogicalResult alula::dispatch::lowerElementwise(Operation *op,
                                                Lowering &lowering) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  OpBuilder &builder = lowering.builder;
  for (Value operand : op->getOperands()) {
    inputs.push_back(lowering.get(operand));
    // select and clamp take scalars beside tensors.
    auto operandType = cast<RankedTensorType>(operand.getType());
    maps.push_back(
        operandType.getRank() == type.getRank()
            ? builder.getMultiDimIdentityMap(type.getRank())
            : AffineMap::get(type.getRank(), 0, op->getContext()));
  }
  bool emitted = true;
  Value result = lowering.createMap(
      op->getLoc(), type, inputs, maps,
      [&](OpBuilder &inner, ValueRange arguments) {
        Value value = lowerScalar(inner, op, arguments);
        emitted &= static_cast<bool>(value);
        return value;
      });
  lowering.set(op->getResult(0), result);
  return success(emitted);
}
