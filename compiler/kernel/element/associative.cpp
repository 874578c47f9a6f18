// Finds by trial whether a reduction is associative. What only compares its
// arguments and chooses among them can't tell numbers apart but by their order:
// three numbers of each type, an equal one and two NaNs stand for all.

#include "compiler/kernel/element/associative.h"

#include "compiler/kernel/element/sum_types.h"
#include "dialect/stablehlo/element_rules.h"
#include "dialect/stablehlo/ops.h"

#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using stablehlo::ComparisonDirection;

namespace {
/// A truth, or one of the numbers below.
using Trial = int8_t;
constexpr Trial firstNaN = 4;
constexpr unsigned integerCount = 3, floatCount = 6;

/// 0 < 1 < 2, and 3 equals 1 as -0.0 equals 0.0.
Trial getRank(Trial number) { return number == 3 ? 1 : number; }

bool compare(ComparisonDirection direction, Trial x, Trial y) {
  bool isOrdered = x < firstNaN && y < firstNaN;
  Trial a = getRank(x), b = getRank(y);
  switch (direction) {
  case ComparisonDirection::EQ:
    return isOrdered && a == b;
  case ComparisonDirection::NE:
    return !isOrdered || a != b;
  case ComparisonDirection::GE:
    return isOrdered && a >= b;
  case ComparisonDirection::GT:
    return isOrdered && a > b;
  case ComparisonDirection::LE:
    return isOrdered && a <= b;
  case ComparisonDirection::LT:
    return isOrdered && a < b;
  }
  llvm_unreachable("no such direction");
}

Type getElementType(Value value) {
  return cast<ShapedType>(value.getType()).getElementType();
}

/// Ops that can be tried.
bool isChoice(Operation &op) {
  if (auto comparison = dyn_cast<stablehlo::CompareOp>(op))
    return comparison.getCompareType() !=
               stablehlo::ComparisonType::TOTALORDER &&
           !getElementType(comparison.getLhs()).isInteger(1);
  if (isa<stablehlo::AndOp, stablehlo::OrOp, stablehlo::XorOp,
          stablehlo::NotOp>(op))
    return getElementType(op.getResult(0)).isInteger(1);
  return isa<stablehlo::SelectOp>(op);
}

class Trials {
public:
  explicit Trials(Block &body) : body(body) {
    for (unsigned i = 0; i < 2; ++i)
      counts[i] = isa<FloatType>(getElementType(body.getArgument(i)))
                      ? floatCount
                      : integerCount;
  }

  bool areAssociative() {
    unsigned count = counts[0] * counts[1];
    // Of the states a and b: those of their first numbers, then the second.
    SmallVector<unsigned> combined;
    for (unsigned a = 0; a < count; ++a)
      for (unsigned b = 0; b < count; ++b)
        combined.push_back(combine(a, b));
    auto at = [&](unsigned a, unsigned b) { return combined[a * count + b]; };
    for (unsigned a = 0; a < count; ++a)
      for (unsigned b = 0; b < count; ++b)
        for (unsigned c = 0; c < count; ++c)
          if (at(at(a, b), c) != at(a, at(b, c)))
            return false;
    return true;
  }

private:
  unsigned combine(unsigned a, unsigned b) {
    unsigned states[] = {a, b};
    for (unsigned i = 0; i < 4; ++i) {
      unsigned state = states[i / 2];
      values[body.getArgument(i)] =
          static_cast<Trial>(i % 2 ? state % counts[1] : state / counts[1]);
    }
    for (Operation &op : body.without_terminator())
      values[op.getResult(0)] = apply(op);
    Operation *result = body.getTerminator();
    return static_cast<unsigned>(values.lookup(result->getOperand(0))) *
               counts[1] +
           static_cast<unsigned>(values.lookup(result->getOperand(1)));
  }

  Trial apply(Operation &op) {
    auto at = [&](unsigned i) { return values.lookup(op.getOperand(i)); };
    if (auto comparison = dyn_cast<stablehlo::CompareOp>(op))
      return compare(comparison.getComparisonDirection(), at(0), at(1));
    if (isa<stablehlo::SelectOp>(op))
      return at(0) ? at(1) : at(2);
    if (isa<stablehlo::NotOp>(op))
      return !at(0);
    if (isa<stablehlo::AndOp>(op))
      return at(0) && at(1);
    if (isa<stablehlo::OrOp>(op))
      return at(0) || at(1);
    return at(0) != at(1);
  }

  Block &body;
  unsigned counts[2];
  llvm::DenseMap<Value, Trial> values;
};

/// What a shuffle can move, in one or two registers.
bool isMovable(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return integer.getWidth() <= 64;
  return type.isF16() || type.isBF16() || type.isF32() || type.isF64();
}
} // namespace

bool alula::kernel::isAssociative(Block &body) {
  if (body.getNumArguments() != 4 ||
      body.getTerminator()->getNumOperands() != 2)
    return false;
  auto isNumber = [](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && isa<FloatType, IntegerType>(type.getElementType()) &&
           !type.getElementType().isInteger(1);
  };
  // Each result is one of the arguments that stand for it.
  for (unsigned i = 0; i < 4; ++i)
    if (!isNumber(body.getArgument(i)) ||
        body.getArgument(i).getType() !=
            body.getTerminator()->getOperand(i % 2).getType())
      return false;
  return llvm::all_of(body.without_terminator(),
                      [&](Operation &op) {
                        return isChoice(op) &&
                               llvm::all_of(op.getOperands(), [&](Value value) {
                                 return value.getParentBlock() == &body;
                               });
                      }) &&
         Trials(body).areAssociative();
}

bool alula::kernel::isUnordered(Block &body) {
  Operation *op = stablehlo::findOnlyOp(body);
  if (!op)
    return false;
  if (isa<stablehlo::MaxOp, stablehlo::MinOp>(op))
    return true;
  bool isInteger = isa<IntegerType>(getElementType(op->getResult(0)));
  return isInteger && isa<stablehlo::AddOp, stablehlo::MulOp, stablehlo::AndOp,
                          stablehlo::OrOp, stablehlo::XorOp>(op);
}

bool alula::kernel::isSharedByLanes(Operation *reduce, Block &body) {
  return llvm::all_of(
             body.getArguments(),
             [](Value value) { return isMovable(getElementType(value)); }) &&
         (isStridedByLanes(reduce, body) || isAssociative(body));
}

bool alula::kernel::isStridedByLanes(Operation *reduce, Block &body) {
  return getFloatSumType(reduce, body) || isUnordered(body);
}
