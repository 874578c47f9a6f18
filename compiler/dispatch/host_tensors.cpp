// Follows elements of integer tensors back to what the host knows.
//
// i32 and i64 are computed without wrapping: a size that overflows is no size.
// Narrower and unsigned integers are read from memory.

#include "compiler/dispatch/host_tensors.h"

#include "dialect/dispatch/ops.h"
#include "dialect/stablehlo/element_rules.h"
#include "dialect/stablehlo/ops.h"

#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace alula::dispatch;
using arith::CmpIPredicate;

namespace {
/// More elements are not reduced one by one.
constexpr int64_t maxReduced = 64;

RankedTensorType getType(Value tensor) {
  return cast<RankedTensorType>(tensor.getType());
}

bool isCondition(Value tensor) {
  return getType(tensor).getElementType().isInteger(1);
}

bool isNumber(Value tensor) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  return type && type.hasStaticShape() &&
         (type.getElementType().isSignlessInteger(32) ||
          type.getElementType().isSignlessInteger(64) ||
          type.getElementType().isIndex());
}

bool isKnownType(Value tensor) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  return type && type.hasStaticShape() &&
         (isCondition(tensor) || isNumber(tensor));
}

int64_t linearize(ArrayRef<int64_t> position, ArrayRef<int64_t> shape) {
  int64_t number = 0;
  for (auto [at, size] : llvm::zip_equal(position, shape))
    number = number * size + at;
  return number;
}

SmallVector<int64_t> delinearize(int64_t number, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> position(shape.size());
  for (size_t dim = shape.size(); dim-- > 0;) {
    position[dim] = number % shape[dim];
    number /= shape[dim];
  }
  return position;
}
} // namespace

Value HostTensors::getElement(Value tensor, ArrayRef<int64_t> position) {
  std::pair<void *, std::vector<int64_t>> key(
      tensor.getAsOpaquePointer(), {position.begin(), position.end()});
  auto found = known.find(key);
  if (found != known.end())
    return found->second;
  Value value;
  if (tensor.getDefiningOp() && isKnownType(tensor))
    value = compute(tensor, position);
  if (!value)
    value = numbers.extract(tensor, position);
  return known[key] = value;
}

Value HostTensors::compute(Value tensor, ArrayRef<int64_t> position) {
  Operation *op = tensor.getDefiningOp();
  ArrayRef<int64_t> shape = getType(tensor).getShape();
  if (auto constant = dyn_cast<stablehlo::ConstantOp>(op)) {
    auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (!dense)
      return {};
    auto values = dense.getValues<APInt>();
    APInt value = values[static_cast<size_t>(linearize(position, shape))];
    if (!isCondition(tensor))
      return numbers.make(value.getSExtValue());
    return numbers.compare(CmpIPredicate::ne,
                           numbers.make(value.getBoolValue()), numbers.make(0));
  }
  if (auto size = dyn_cast<stablehlo::GetDimensionSizeOp>(op))
    return getDim(size.getOperand(), static_cast<int64_t>(size.getDimension()));
  if (auto pack = dyn_cast<PackOp>(op))
    return isCondition(tensor) ? Value()
                               : pack.getNumbers()[static_cast<unsigned>(
                                     linearize(position, shape))];
  if (auto barrier = dyn_cast<stablehlo::OptimizationBarrierOp>(op))
    return getElement(
        barrier.getOperand()[cast<OpResult>(tensor).getResultNumber()],
        position);
  if (isa<stablehlo::ReduceOp>(op))
    return computeReduce(op, position);
  if (stablehlo::isElementwise(op))
    return computeElementwise(op, position);
  return computeMoved(op, position);
}

// Elements that are those of an operand, somewhere else.
Value HostTensors::computeMoved(Operation *op, ArrayRef<int64_t> position) {
  ArrayRef<int64_t> shape = getType(op->getResult(0)).getShape();
  SmallVector<int64_t> source(position);
  auto broadcast = [&](ArrayRef<int64_t> dims) -> Value {
    RankedTensorType type = getType(op->getOperand(0));
    source.resize(static_cast<size_t>(type.getRank()));
    for (auto [dim, target] : llvm::enumerate(dims))
      source[dim] = type.getDimSize(static_cast<unsigned>(dim)) == 1
                        ? 0
                        : position[static_cast<size_t>(target)];
    return getElement(op->getOperand(0), source);
  };
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](stablehlo::IotaOp iota) {
        return numbers.make(position[iota.getIotaDimension()]);
      })
      .Case<stablehlo::ReshapeOp, stablehlo::DynamicReshapeOp>([&](auto) {
        RankedTensorType type = getType(op->getOperand(0));
        return type.hasStaticShape()
                   ? getElement(op->getOperand(0),
                                delinearize(linearize(position, shape),
                                            type.getShape()))
                   : Value();
      })
      .Case([&](stablehlo::BroadcastInDimOp op) {
        return broadcast(op.getBroadcastDimensions());
      })
      .Case([&](stablehlo::DynamicBroadcastInDimOp op) {
        return getType(op.getOperand()).hasStaticShape()
                   ? broadcast(op.getBroadcastDimensions())
                   : Value();
      })
      .Case([&](stablehlo::SliceOp slice) {
        for (auto [at, start, stride] : llvm::zip_equal(
                 source, slice.getStartIndices(), slice.getStrides()))
          at = start + at * stride;
        return getElement(slice.getOperand(), source);
      })
      .Case([&](stablehlo::TransposeOp transpose) {
        for (auto [dim, from] : llvm::enumerate(transpose.getPermutation()))
          source[static_cast<size_t>(from)] = position[dim];
        return getElement(transpose.getOperand(), source);
      })
      .Case([&](stablehlo::ReverseOp reverse) {
        for (int64_t dim : reverse.getDimensions())
          source[static_cast<size_t>(dim)] = shape[static_cast<size_t>(dim)] -
                                             1 -
                                             source[static_cast<size_t>(dim)];
        return getElement(reverse.getOperand(), source);
      })
      .Case([&](stablehlo::ConcatenateOp concatenate) -> Value {
        int64_t &at = source[concatenate.getDimension()];
        for (Value input : concatenate.getInputs()) {
          if (!getType(input).hasStaticShape())
            return {};
          int64_t size = getType(input).getDimSize(
              static_cast<unsigned>(concatenate.getDimension()));
          if (at < size)
            return getElement(input, source);
          at -= size;
        }
        return {};
      })
      .Default([](Operation *) { return Value(); });
}

Value HostTensors::computeElementwise(Operation *op,
                                      ArrayRef<int64_t> position) {
  auto getOperand = [&](unsigned i) {
    Value operand = op->getOperand(i);
    return getElement(
        operand, getType(operand).getRank() ? position : ArrayRef<int64_t>());
  };
  if (isa<stablehlo::ConvertOp>(op) && isNumber(op->getResult(0)) &&
      getType(op->getOperand(0)).getElementType().isF64())
    return computeWhole(op->getOperand(0), position);
  if (!llvm::all_of(op->getOperands(), isKnownType))
    return {};
  if (isa<stablehlo::SelectOp>(op)) {
    // Conditions have no constants that commands could choose between.
    if (isCondition(op->getResult(0)))
      return {};
    return numbers.select(getOperand(0), getOperand(1), getOperand(2));
  }
  if (isa<stablehlo::ClampOp>(op))
    return numbers.getMinimum(numbers.getMaximum(getOperand(1), getOperand(0)),
                              getOperand(2));
  if (auto compare = dyn_cast<stablehlo::CompareOp>(op)) {
    using Direction = stablehlo::ComparisonDirection;
    Value a = getOperand(0), b = getOperand(1);
    switch (compare.getComparisonDirection()) {
    case Direction::EQ:
      return numbers.compare(CmpIPredicate::eq, a, b);
    case Direction::NE:
      return numbers.compare(CmpIPredicate::ne, a, b);
    default:
      break;
    }
    // The order of conditions is that of unsigned numbers.
    if (isCondition(op->getOperand(0)))
      return {};
    switch (compare.getComparisonDirection()) {
    case Direction::GE:
      return numbers.compare(CmpIPredicate::sge, a, b);
    case Direction::GT:
      return numbers.compare(CmpIPredicate::sgt, a, b);
    case Direction::LE:
      return numbers.compare(CmpIPredicate::sle, a, b);
    case Direction::LT:
      return numbers.compare(CmpIPredicate::slt, a, b);
    default:
      return {};
    }
  }
  bool fromCondition = isCondition(op->getOperand(0));
  if (isa<stablehlo::ConvertOp>(op)) {
    Value value = getOperand(0);
    bool toCondition = isCondition(op->getResult(0));
    if (fromCondition == toCondition)
      return value;
    return toCondition
               ? numbers.compare(CmpIPredicate::ne, value, numbers.make(0))
               : numbers.select(value, numbers.make(1), numbers.make(0));
  }
  if (op->getNumOperands() > 2)
    return {};
  Value a = getOperand(0);
  Value b = op->getNumOperands() == 2 ? getOperand(1) : Value();
  return fromCondition ? computeConditions(op, a, b)
                       : computeIntegers(op, a, b);
}

// A count that a program computes in f64, as torch-mlir does for how many
// numbers a range has. Whole numbers below 2^53 are exact in it, and so is
// their quotient once it is rounded up or down; greater ones are no sizes.
Value HostTensors::computeWhole(Value tensor, ArrayRef<int64_t> position) {
  Operation *op = tensor.getDefiningOp();
  if (!op)
    return {};
  if (auto constant = dyn_cast<stablehlo::ConstantOp>(op)) {
    auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (!dense)
      return {};
    auto place =
        static_cast<size_t>(linearize(position, getType(tensor).getShape()));
    double value = dense.getValues<APFloat>()[place].convertToDouble();
    bool isExact = value >= 0 && value < 0x1p53 && value == std::floor(value);
    return isExact ? numbers.make(static_cast<int64_t>(value)) : Value();
  }
  if (isa<stablehlo::ConvertOp>(op)) {
    Value operand = op->getOperand(0);
    if (!isNumber(operand))
      return {};
    Value number = getElement(operand, position);
    auto constant = getConstantIntValue(number);
    bool isExact = constant ? *constant >= 0 && *constant < int64_t(1) << 53
                            : numbers.isNotNegative(number);
    return isExact ? number : Value();
  }
  if (!isa<stablehlo::CeilOp, stablehlo::FloorOp>(op))
    return {};
  auto quotient = op->getOperand(0).getDefiningOp<stablehlo::DivOp>();
  if (!quotient)
    return computeWhole(op->getOperand(0), position);
  Value a = computeWhole(quotient.getLhs(), position);
  Value b = a ? computeWhole(quotient.getRhs(), position) : Value();
  auto divisor = b ? getConstantIntValue(b) : std::nullopt;
  if (!divisor || *divisor == 0)
    return {};
  if (isa<stablehlo::CeilOp>(op))
    a = numbers.add(a, numbers.make(*divisor - 1));
  return numbers.divide(a, b);
}

Value HostTensors::computeConditions(Operation *op, Value a, Value b) {
  if (isa<stablehlo::AndOp, stablehlo::MulOp, stablehlo::MinOp>(op))
    return numbers.bitAnd(a, b);
  if (isa<stablehlo::OrOp, stablehlo::AddOp, stablehlo::MaxOp>(op))
    return numbers.bitOr(a, b);
  if (isa<stablehlo::XorOp>(op))
    return numbers.bitXor(a, b);
  if (isa<stablehlo::NotOp>(op))
    return numbers.bitXor(a, numbers.makeTrue());
  return {};
}

Value HostTensors::computeIntegers(Operation *op, Value a, Value b) {
  Value zero = numbers.make(0);
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](stablehlo::AddOp) { return numbers.add(a, b); })
      .Case([&](stablehlo::SubtractOp) { return numbers.subtract(a, b); })
      .Case([&](stablehlo::MulOp) { return numbers.multiply(a, b); })
      .Case([&](stablehlo::DivOp) { return numbers.divide(a, b); })
      .Case([&](stablehlo::RemOp) { return numbers.getRemainder(a, b); })
      .Case([&](stablehlo::MaxOp) { return numbers.getMaximum(a, b); })
      .Case([&](stablehlo::MinOp) { return numbers.getMinimum(a, b); })
      .Case([&](stablehlo::AndOp) { return numbers.bitAnd(a, b); })
      .Case([&](stablehlo::OrOp) { return numbers.bitOr(a, b); })
      .Case([&](stablehlo::XorOp) { return numbers.bitXor(a, b); })
      .Case([&](stablehlo::NegOp) { return numbers.subtract(zero, a); })
      .Case([&](stablehlo::AbsOp) {
        return numbers.getMaximum(a, numbers.subtract(zero, a));
      })
      .Case([&](stablehlo::SignOp) {
        return numbers.getMaximum(numbers.getMinimum(a, numbers.make(1)),
                                  numbers.make(-1));
      })
      .Default([](Operation *) { return Value(); });
}

// The few elements of a list, one after the other.
Value HostTensors::computeReduce(Operation *op, ArrayRef<int64_t> position) {
  auto reduce = cast<stablehlo::ReduceOp>(op);
  Operation *step = stablehlo::findOnlyOp(reduce.getBody().front());
  if (!isa_and_nonnull<stablehlo::AddOp, stablehlo::MulOp, stablehlo::MaxOp,
                       stablehlo::MinOp, stablehlo::AndOp, stablehlo::OrOp>(
          step))
    return {};
  Value input = reduce.getInputs()[0], initial = reduce.getInitValues()[0];
  if (!isKnownType(input) || isCondition(input) != isCondition(initial))
    return {};
  RankedTensorType type = getType(input);
  SmallVector<int64_t> reducedShape;
  for (int64_t dim : reduce.getDimensions())
    reducedShape.push_back(type.getDimSize(static_cast<unsigned>(dim)));
  int64_t count = 1;
  for (int64_t size : reducedShape)
    if (llvm::MulOverflow(count, size, count))
      return {};
  if (count > maxReduced)
    return {};
  Value all = getElement(initial, {});
  for (int64_t i = 0; i < count; ++i) {
    SmallVector<int64_t> reduced = delinearize(i, reducedShape), source;
    ArrayRef<int64_t> kept(position);
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      const auto *found = llvm::find(reduce.getDimensions(), dim);
      if (found != reduce.getDimensions().end()) {
        source.push_back(reduced[static_cast<size_t>(
            found - reduce.getDimensions().begin())]);
        continue;
      }
      source.push_back(kept.front());
      kept = kept.drop_front();
    }
    Value next = getElement(input, source);
    all = isCondition(input) ? computeConditions(step, all, next)
                             : computeIntegers(step, all, next);
    if (!all)
      return {};
  }
  return all;
}
