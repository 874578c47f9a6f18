// arith in stablehlo: the same on scalars and tensors. Integers have no sign in
// MLIR; where an op says that they have none, they get an unsigned type for it.

#include "compiler/input/lower_shape.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace alula::input;
using stablehlo::ComparisonDirection;
using stablehlo::ComparisonType;

namespace {
class Arithmetic {
public:
  Arithmetic(Operation *op, OpBuilder &builder)
      : op(op), builder(builder), location(op->getLoc()) {}

  Value build();

private:
  static Type getElement(Value value) {
    return getElementTypeOrSelf(value.getType());
  }
  static Type with(Value shape, Type element) {
    return cast<RankedTensorType>(shape.getType()).clone(element);
  }
  Type toUnsigned(Type element) {
    return builder.getIntegerType(element.getIntOrFloatBitWidth(),
                                  /*isSigned=*/false);
  }
  Value convert(Value value, Type element) {
    if (getElement(value) == element)
      return value;
    return builder.create<stablehlo::ConvertOp>(location, with(value, element),
                                                value);
  }
  /// The same bits.
  Value bitcast(Value value, Type element) {
    if (getElement(value) == element)
      return value;
    return builder.create<stablehlo::BitcastConvertOp>(
        location, with(value, element), value);
  }
  Value asUnsigned(Value value) {
    // A bit has no sign.
    Type element = getElement(value);
    return element.isInteger(1) ? value : bitcast(value, toUnsigned(element));
  }
  template <typename Op> Value make(Value a, Value b) {
    return builder.create<Op>(location, a.getType(), a, b);
  }
  template <typename Op> Value make() {
    return make<Op>(op->getOperand(0), op->getOperand(1));
  }
  template <typename Op> Value makeUnsigned() {
    Value result =
        make<Op>(asUnsigned(op->getOperand(0)), asUnsigned(op->getOperand(1)));
    return bitcast(result, getElement(op->getOperand(0)));
  }
  Value compare(Value a, Value b, ComparisonDirection direction,
                ComparisonType type) {
    return builder.create<stablehlo::CompareOp>(
        location, with(a, builder.getI1Type()), a, b, direction,
        stablehlo::ComparisonTypeAttr::get(builder.getContext(), type));
  }
  /// A number as a tensor of the shape and type of another.
  Value makeLike(int64_t number, Value value);
  Value truncate(Value value, Type element);
  Value extend(Value value, Type element, bool isSigned);
  Value divideAndRound(bool up);
  Value divideAndRoundUpUnsigned();
  Value compareIntegers(arith::CmpIOp compareOp);
  Value compareFloats(arith::CmpFOp compareOp);

  Operation *op;
  OpBuilder &builder;
  Location location;
};

Value Arithmetic::makeLike(int64_t number, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  auto attribute = builder.getIntegerAttr(type.getElementType(), number);
  if (type.hasStaticShape())
    return builder.create<stablehlo::ConstantOp>(
        location, DenseElementsAttr::get(type, Attribute(attribute)));
  auto scalar = RankedTensorType::get({}, type.getElementType());
  Value one = builder.create<stablehlo::ConstantOp>(
      location, DenseElementsAttr::get(scalar, Attribute(attribute)));
  ListArithmetic math(builder, location);
  SmallVector<Value> sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    sizes.push_back(math.getDim(value, dim));
  return builder.create<stablehlo::DynamicBroadcastInDimOp>(
      location, type, one, math.makeList(sizes),
      builder.getDenseI64ArrayAttr({}));
}

/// The low bits.
Value Arithmetic::truncate(Value value, Type element) {
  // To convert to a bit is to ask whether any is set.
  if (element.isInteger(1) && !getElement(value).isInteger(1)) {
    value = make<stablehlo::AndOp>(value, makeLike(1, value));
  }
  return convert(value, element);
}

Value Arithmetic::extend(Value value, Type element, bool isSigned) {
  Type from = getElement(value);
  if (from.getIntOrFloatBitWidth() >= element.getIntOrFloatBitWidth())
    return truncate(value, element);
  if (!isSigned)
    return convert(asUnsigned(value), element);
  Value wide = convert(value, element);
  // A bit that is set is -1.
  return from.isInteger(1)
             ? builder.create<stablehlo::NegOp>(location, wide.getType(), wide)
             : wide;
}

/// The quotient that stablehlo cuts, one nearer to the side that it is cut from
/// if there is a rest.
Value Arithmetic::divideAndRound(bool up) {
  Value a = op->getOperand(0), b = op->getOperand(1);
  Value zero = makeLike(0, a);
  Value quotient = make<stablehlo::DivOp>(a, b);
  Value rest =
      make<stablehlo::SubtractOp>(a, make<stablehlo::MulOp>(quotient, b));
  auto test = [&](Value x, ComparisonDirection direction) {
    return compare(x, zero, direction, ComparisonType::SIGNED);
  };
  Value hasRest = test(rest, ComparisonDirection::NE);
  // The rest has the sign of a.
  Value differ = make<stablehlo::XorOp>(test(rest, ComparisonDirection::LT),
                                        test(b, ComparisonDirection::LT));
  if (up)
    differ =
        builder.create<stablehlo::NotOp>(location, differ.getType(), differ);
  Value step = convert(make<stablehlo::AndOp>(hasRest, differ), getElement(a));
  return up ? make<stablehlo::AddOp>(quotient, step)
            : make<stablehlo::SubtractOp>(quotient, step);
}

Value Arithmetic::divideAndRoundUpUnsigned() {
  Value a = asUnsigned(op->getOperand(0)), b = asUnsigned(op->getOperand(1));
  Value quotient = make<stablehlo::DivOp>(a, b);
  Value product = make<stablehlo::MulOp>(quotient, b);
  Value step = convert(
      compare(a, product, ComparisonDirection::NE, ComparisonType::UNSIGNED),
      getElement(a));
  return bitcast(make<stablehlo::AddOp>(quotient, step),
                 getElement(op->getOperand(0)));
}

Value Arithmetic::compareIntegers(arith::CmpIOp compareOp) {
  using Predicate = arith::CmpIPredicate;
  Value a = op->getOperand(0), b = op->getOperand(1);
  auto compareAs = [&](ComparisonDirection direction, bool isUnsigned) {
    // The order of bits is that of unsigned numbers; here they have a sign.
    if (!isUnsigned && getElement(a).isInteger(1) &&
        direction != ComparisonDirection::EQ &&
        direction != ComparisonDirection::NE)
      return compare(b, a, direction, ComparisonType::UNSIGNED);
    if (isUnsigned || getElement(a).isInteger(1))
      return compare(asUnsigned(a), asUnsigned(b), direction,
                     ComparisonType::UNSIGNED);
    return compare(a, b, direction, ComparisonType::SIGNED);
  };
  switch (compareOp.getPredicate()) {
  case Predicate::eq:
    return compareAs(ComparisonDirection::EQ, false);
  case Predicate::ne:
    return compareAs(ComparisonDirection::NE, false);
  case Predicate::slt:
    return compareAs(ComparisonDirection::LT, false);
  case Predicate::sle:
    return compareAs(ComparisonDirection::LE, false);
  case Predicate::sgt:
    return compareAs(ComparisonDirection::GT, false);
  case Predicate::sge:
    return compareAs(ComparisonDirection::GE, false);
  case Predicate::ult:
    return compareAs(ComparisonDirection::LT, true);
  case Predicate::ule:
    return compareAs(ComparisonDirection::LE, true);
  case Predicate::ugt:
    return compareAs(ComparisonDirection::GT, true);
  case Predicate::uge:
    return compareAs(ComparisonDirection::GE, true);
  }
  return {};
}

Value Arithmetic::compareFloats(arith::CmpFOp compareOp) {
  using Predicate = arith::CmpFPredicate;
  std::optional<ComparisonDirection> direction;
  switch (compareOp.getPredicate()) {
  case Predicate::OEQ:
    direction = ComparisonDirection::EQ;
    break;
  case Predicate::OGT:
    direction = ComparisonDirection::GT;
    break;
  case Predicate::OGE:
    direction = ComparisonDirection::GE;
    break;
  case Predicate::OLT:
    direction = ComparisonDirection::LT;
    break;
  case Predicate::OLE:
    direction = ComparisonDirection::LE;
    break;
  case Predicate::UNE:
    direction = ComparisonDirection::NE;
    break;
  default:
    stablehlo::opError(op)
        << "no native code: predicate must be oeq, ogt, oge, olt, ole or une: "
           "is "
        << arith::stringifyCmpFPredicate(compareOp.getPredicate());
    return {};
  }
  return compare(op->getOperand(0), op->getOperand(1), *direction,
                 ComparisonType::FLOAT);
}

Value Arithmetic::build() {
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto elements = dyn_cast<ElementsAttr>(constant.getValue());
    if (isa<IntegerAttr, FloatAttr>(constant.getValue()))
      elements = DenseElementsAttr::get(
          RankedTensorType::get({}, constant.getType()), constant.getValue());
    if (elements)
      elements = getPlainElements(elements);
    if (!elements || !isa<RankedTensorType>(elements.getType())) {
      stablehlo::opError(op)
          << "no native code: constant must be a number or a "
             "tensor: is "
          << constant.getType();
      return {};
    }
    return builder.create<stablehlo::ConstantOp>(location, elements);
  }
  for (Value operand : op->getOperands())
    if (!isa<RankedTensorType>(operand.getType())) {
      stablehlo::opError(op)
          << "no native code: operands must be numbers or tensors with a rank: "
             "has "
          << operand.getType();
      return {};
    }
  auto element = [&] {
    return getElementTypeOrSelf(getPlainType(op->getResult(0).getType()));
  };
  Value first = op->getOperand(0);
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<arith::AddIOp, arith::AddFOp>([&](auto) {
        // Addition of bits is or in stablehlo.
        return getElement(first).isInteger(1) ? make<stablehlo::XorOp>()
                                              : make<stablehlo::AddOp>();
      })
      .Case<arith::SubIOp, arith::SubFOp>([&](auto) {
        return getElement(first).isInteger(1) ? make<stablehlo::XorOp>()
                                              : make<stablehlo::SubtractOp>();
      })
      .Case<arith::MulIOp, arith::MulFOp>(
          [&](auto) { return make<stablehlo::MulOp>(); })
      .Case<arith::DivSIOp, arith::DivFOp>(
          [&](auto) { return make<stablehlo::DivOp>(); })
      .Case<arith::RemSIOp, arith::RemFOp>(
          [&](auto) { return make<stablehlo::RemOp>(); })
      // Of bits with a sign, the one that is set is less.
      .Case<arith::MaxSIOp, arith::MaximumFOp>([&](auto) {
        return getElement(first).isInteger(1) ? make<stablehlo::MinOp>()
                                              : make<stablehlo::MaxOp>();
      })
      .Case<arith::MinSIOp, arith::MinimumFOp>([&](auto) {
        return getElement(first).isInteger(1) ? make<stablehlo::MaxOp>()
                                              : make<stablehlo::MinOp>();
      })
      .Case([&](arith::DivUIOp) { return makeUnsigned<stablehlo::DivOp>(); })
      .Case([&](arith::RemUIOp) { return makeUnsigned<stablehlo::RemOp>(); })
      .Case([&](arith::MaxUIOp) { return makeUnsigned<stablehlo::MaxOp>(); })
      .Case([&](arith::MinUIOp) { return makeUnsigned<stablehlo::MinOp>(); })
      .Case([&](arith::CeilDivUIOp) { return divideAndRoundUpUnsigned(); })
      .Case([&](arith::CeilDivSIOp) { return divideAndRound(true); })
      .Case([&](arith::FloorDivSIOp) { return divideAndRound(false); })
      .Case([&](arith::AndIOp) { return make<stablehlo::AndOp>(); })
      .Case([&](arith::OrIOp) { return make<stablehlo::OrOp>(); })
      .Case([&](arith::XOrIOp) { return make<stablehlo::XorOp>(); })
      .Case([&](arith::ShLIOp) { return make<stablehlo::ShiftLeftOp>(); })
      .Case([&](arith::ShRSIOp) {
        return make<stablehlo::ShiftRightArithmeticOp>();
      })
      .Case([&](arith::ShRUIOp) {
        return make<stablehlo::ShiftRightLogicalOp>();
      })
      .Case([&](arith::NegFOp) {
        return builder.create<stablehlo::NegOp>(location, first.getType(),
                                                first);
      })
      .Case([&](arith::CmpIOp compareOp) { return compareIntegers(compareOp); })
      .Case([&](arith::CmpFOp compareOp) { return compareFloats(compareOp); })
      .Case([&](arith::SelectOp) {
        return builder.create<stablehlo::SelectOp>(
            location, op->getOperand(1).getType(), first, op->getOperand(1),
            op->getOperand(2));
      })
      .Case<arith::IndexCastOp, arith::ExtSIOp>(
          [&](auto) { return extend(first, element(), true); })
      .Case<arith::IndexCastUIOp, arith::ExtUIOp>(
          [&](auto) { return extend(first, element(), false); })
      .Case([&](arith::TruncIOp) { return truncate(first, element()); })
      .Case<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::FPToSIOp>(
          [&](auto) { return convert(first, element()); })
      .Case([&](arith::UIToFPOp) {
        return convert(asUnsigned(first), element());
      })
      .Case([&](arith::FPToUIOp) {
        return bitcast(convert(first, toUnsigned(element())), element());
      })
      .Case([&](arith::BitcastOp) { return bitcast(first, element()); })
      .Default([&](Operation *) {
        stablehlo::opError(op) << "no native code: of arith there is what "
                                  "computes one number of numbers";
        return Value();
      });
}
} // namespace

Value alula::input::buildArithmetic(Operation *op, OpBuilder &builder) {
  return Arithmetic(op, builder).build();
}
