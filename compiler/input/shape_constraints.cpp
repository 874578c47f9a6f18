// The shape dialect: shapes are lists of sizes, and what must hold of them are
// assertions.

#include "compiler/input/lower_shape.h"

#include "mlir/Dialect/Shape/IR/Shape.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace alula::input;
using stablehlo::ComparisonDirection;

Value ShapeLowering::makeCondition(Operation *op, bool value) {
  builder.setInsertionPoint(op);
  auto type = RankedTensorType::get({}, builder.getI1Type());
  return builder.create<stablehlo::ConstantOp>(
      op->getLoc(), DenseElementsAttr::get(type, value));
}

Value ShapeLowering::compare(Operation *op, Value a, Value b) {
  auto x = getKnown(a), y = getKnown(b);
  if (a == b || (x && y))
    return makeCondition(op, a == b || *x == *y);
  builder.setInsertionPoint(op);
  return builder.create<stablehlo::CompareOp>(
      op->getLoc(), RankedTensorType::get({}, builder.getI1Type()), a, b,
      ComparisonDirection::EQ,
      stablehlo::ComparisonTypeAttr::get(builder.getContext(),
                                         stablehlo::ComparisonType::SIGNED));
}

/// Both hold; those that are known to hold are left out.
static Value both(OpBuilder &builder, Location location, Value a, Value b,
                  std::optional<int64_t> knownA,
                  std::optional<int64_t> knownB) {
  if (knownA)
    return *knownA ? b : a;
  if (knownB)
    return *knownB ? a : b;
  return builder.create<stablehlo::AndOp>(location, a.getType(), a, b);
}

Value ShapeLowering::areEqual(Operation *op, ArrayRef<Values> shapes) {
  Value all = makeCondition(op, true);
  for (const Values &shape : shapes.drop_front()) {
    if (shape.size() != shapes.front().size())
      return makeCondition(op, false);
    for (auto [a, b] : llvm::zip_equal(shapes.front(), shape)) {
      Value same = compare(op, a, b);
      all =
          both(builder, op->getLoc(), all, same, getKnown(all), getKnown(same));
    }
  }
  return all;
}

void ShapeLowering::require(Operation *op, Value condition,
                            const Twine &message, ArrayRef<Value> shown) {
  // Also one that is known not to hold: where it stands, nobody may come.
  if (auto known = getKnown(condition); known && *known)
    return;
  builder.setInsertionPoint(op);
  SmallVector<Value> operands{condition};
  operands.append(shown.begin(), shown.end());
  auto call = builder.create<stablehlo::CustomCallOp>(
      op->getLoc(), TypeRange(), operands,
      builder.getNamedAttr("call_target_name",
                           builder.getStringAttr("shape_assertion")));
  call.setHasSideEffect(true);
  call->setAttr("error_message",
                builder.getStringAttr("'" + op->getName().getStringRef() +
                                      "': " + message));
}

void ShapeLowering::requireAsWritten(Operation *op, Value condition,
                                     StringRef message) {
  // Holes are for numbers, of which it has none.
  std::string text;
  for (char symbol : message)
    text.append(symbol == '{' || symbol == '}' ? 2 : 1, symbol);
  require(op, condition, text);
}

void ShapeLowering::forEachPair(
    ArrayRef<Values> shapes, function_ref<void(Value, Value, size_t)> visit) {
  size_t rank = 0;
  for (const Values &shape : shapes)
    rank = std::max(rank, shape.size());
  for (size_t dim = 0; dim < rank; ++dim) {
    Values others;
    for (const Values &shape : shapes) {
      if (shape.size() + dim < rank)
        continue;
      Value size = shape[shape.size() + dim - rank];
      if (getKnown(size) == 1 || llvm::is_contained(others, size))
        continue;
      for (Value other : others)
        visit(other, size, dim);
      others.push_back(size);
    }
  }
}

Value ShapeLowering::canBroadcast(Operation *op, Value a, Value b) {
  Value can = compare(op, a, b);
  for (Value size : {a, b}) {
    // One that is known is not 1.
    if (getKnown(size) || getKnown(can) == 1)
      continue;
    Value isOne = compare(op, size, math(op).make(1));
    builder.setInsertionPoint(op);
    can = getKnown(can) ? isOne
                        : builder.create<stablehlo::OrOp>(
                              op->getLoc(), can.getType(), can, isOne);
  }
  return can;
}

/// The size to which those at one place broadcast: of the first that is not 1.
Value ShapeLowering::broadcast(Operation *op, ArrayRef<Values> shapes,
                               size_t fromEnd) {
  Values all;
  for (const Values &shape : shapes) {
    if (fromEnd >= shape.size())
      continue;
    Value size = shape[shape.size() - 1 - fromEnd];
    auto known = getKnown(size);
    if (known && *known != 1)
      return size;
    if (!known && !llvm::is_contained(all, size))
      all.push_back(size);
  }
  if (all.empty())
    return math(op).make(1);
  Value size = all.front();
  for (Value next : ArrayRef(all).drop_front()) {
    Value isOne = compare(op, size, math(op).make(1));
    builder.setInsertionPoint(op);
    size = builder.create<stablehlo::SelectOp>(op->getLoc(), size.getType(),
                                               isOne, next, size);
  }
  return size;
}

FailureOr<ShapeLowering::Values> ShapeLowering::lowerSplit(Operation *op) {
  FailureOr<Values> shape = getElements(op, op->getOperand(0));
  if (failed(shape))
    return failure();
  auto at = getKnown(op->getOperand(1));
  auto rank = static_cast<int64_t>(shape->size());
  if (at && *at < 0)
    *at += rank;
  if (!at || *at < 0 || *at > rank)
    return refuse(op) << "where a shape is split must be a constant in it";
  auto all = ArrayRef(*shape);
  return Values{makeList(op, all.take_front(*at)),
                makeList(op, all.drop_front(*at))};
}

FailureOr<Value> ShapeLowering::getExtent(Operation *op, Value list,
                                          Value index) {
  auto at = getKnown(index);
  if (auto found = lists.find(list); found != lists.end() && at) {
    const Values &all = found->second;
    if (*at < 0 || *at >= static_cast<int64_t>(all.size()))
      return refuse(op) << "there must be a dimension " << *at << ": there are "
                        << all.size();
    return all[static_cast<size_t>(*at)];
  }
  builder.setInsertionPoint(op);
  Type element = builder.getI64Type();
  Value one = builder.create<stablehlo::DynamicSliceOp>(
      op->getLoc(), RankedTensorType::get({1}, element), list,
      ValueRange{index}, ArrayRef<int64_t>{1});
  return Value(builder.create<stablehlo::ReshapeOp>(
      op->getLoc(), RankedTensorType::get({}, element), one));
}

FailureOr<ShapeLowering::Values> ShapeLowering::lowerShape(Operation *op) {
  auto one = [](FailureOr<Value> value) -> FailureOr<Values> {
    if (failed(value))
      return failure();
    return Values{*value};
  };
  auto getShapes = [&](ValueRange operands) -> FailureOr<SmallVector<Values>> {
    SmallVector<Values> shapes;
    for (Value operand : operands) {
      FailureOr<Values> shape = getElements(op, operand);
      if (failed(shape))
        return failure();
      shapes.push_back(*shape);
    }
    return shapes;
  };
  auto known = [&](ArrayRef<int64_t> numbers) {
    Values all;
    for (int64_t number : numbers)
      all.push_back(math(op).make(number));
    return Values{makeList(op, all)};
  };
  // Of numbers, and of shapes one by one.
  auto elementwise =
      [&](function_ref<Value(Value, Value)> compute) -> FailureOr<Values> {
    Value a = op->getOperand(0), b = op->getOperand(1);
    if (cast<ShapedType>(a.getType()).getRank() == 0)
      return Values{compute(a, b)};
    auto shapes = getShapes({a, b});
    if (failed(shapes))
      return failure();
    if ((*shapes)[0].size() != (*shapes)[1].size())
      return refuse(op) << "shapes must have one rank: have "
                        << (*shapes)[0].size() << " and "
                        << (*shapes)[1].size();
    Values all;
    for (auto [x, y] : llvm::zip_equal((*shapes)[0], (*shapes)[1]))
      all.push_back(compute(x, y));
    return Values{makeList(op, all)};
  };
  // For broadcasts, which assume that it goes.
  auto requireBroadcast = [&]() -> FailureOr<Values> {
    auto shapes = getShapes(op->getOperands());
    if (failed(shapes))
      return failure();
    // Who asks and does not wait for the answer does not care.
    if (!op->use_empty())
      forEachPair(*shapes, [&](Value a, Value b, size_t dim) {
        require(op, canBroadcast(op, a, b),
                "sizes must be equal or 1: dimension " + Twine(dim) +
                    " is {0} and {1}",
                {a, b});
      });
    return Values{Value()};
  };

  return llvm::TypeSwitch<Operation *, FailureOr<Values>>(op)
      .Case([&](shape::ShapeOfOp) -> FailureOr<Values> {
        FailureOr<Values> all = getSizes(op, op->getOperand(0));
        if (failed(all))
          return failure();
        return Values{makeList(op, *all)};
      })
      .Case([&](shape::ConstShapeOp constant) {
        return known(llvm::to_vector(constant.getShape().getValues<int64_t>()));
      })
      .Case([&](shape::ConstSizeOp constant) {
        return Values{math(op).make(constant.getValue().getSExtValue())};
      })
      .Case([&](shape::FromExtentsOp) {
        return Values{makeList(op, op->getOperands())};
      })
      // Lists, or numbers, that they are already.
      .Case<shape::FromExtentTensorOp, shape::ToExtentTensorOp,
            shape::ValueAsShapeOp, shape::IndexToSizeOp, shape::SizeToIndexOp,
            shape::AnyOp>([&](auto) { return Values{op->getOperand(0)}; })
      .Case([&](shape::BroadcastOp) -> FailureOr<Values> {
        auto shapes = getShapes(op->getOperands());
        if (failed(shapes))
          return failure();
        size_t rank = 0;
        for (const Values &shape : *shapes)
          rank = std::max(rank, shape.size());
        Values all;
        for (size_t dim = rank; dim-- > 0;)
          all.push_back(broadcast(op, *shapes, dim));
        return Values{makeList(op, all)};
      })
      .Case([&](shape::ConcatOp) -> FailureOr<Values> {
        auto shapes = getShapes(op->getOperands());
        if (failed(shapes))
          return failure();
        Values all;
        for (const Values &shape : *shapes)
          all.append(shape.begin(), shape.end());
        return Values{makeList(op, all)};
      })
      .Case([&](shape::SplitAtOp) { return lowerSplit(op); })
      .Case([&](shape::DimOp) -> FailureOr<Values> {
        FailureOr<Values> all = getSizes(op, op->getOperand(0));
        if (failed(all))
          return failure();
        return one(getExtent(op, makeList(op, *all), op->getOperand(1)));
      })
      .Case([&](shape::GetExtentOp) {
        return one(getExtent(op, op->getOperand(0), op->getOperand(1)));
      })
      .Case([&](shape::RankOp) -> FailureOr<Values> {
        FailureOr<Values> all = getElements(op, op->getOperand(0));
        if (failed(all))
          return failure();
        return Values{math(op).make(static_cast<int64_t>(all->size()))};
      })
      .Case([&](shape::NumElementsOp) -> FailureOr<Values> {
        FailureOr<Values> all = getElements(op, op->getOperand(0));
        if (failed(all))
          return failure();
        Value product;
        for (Value size : *all)
          product = product ? math(op).multiply(product, size) : size;
        return Values{product ? product : math(op).make(1)};
      })
      .Case([&](shape::AddOp) {
        return elementwise(
            [&](Value a, Value b) { return math(op).add(a, b); });
      })
      .Case([&](shape::MulOp) {
        return elementwise(
            [&](Value a, Value b) { return math(op).multiply(a, b); });
      })
      // Sizes are not negative, so that it does not matter how to round.
      .Case([&](shape::DivOp) {
        return elementwise(
            [&](Value a, Value b) { return math(op).divide(a, b); });
      })
      .Case([&](shape::MaxOp) {
        return elementwise(
            [&](Value a, Value b) { return math(op).getMaximum(a, b); });
      })
      .Case([&](shape::MinOp) {
        return elementwise(
            [&](Value a, Value b) { return math(op).getMinimum(a, b); });
      })
      .Case([&](shape::ShapeEqOp) -> FailureOr<Values> {
        auto shapes = getShapes(op->getOperands());
        if (failed(shapes))
          return failure();
        return Values{areEqual(op, *shapes)};
      })
      .Case([&](shape::IsBroadcastableOp) -> FailureOr<Values> {
        auto shapes = getShapes(op->getOperands());
        if (failed(shapes))
          return failure();
        Value all = makeCondition(op, true);
        forEachPair(*shapes, [&](Value a, Value b, size_t) {
          Value can = canBroadcast(op, a, b);
          builder.setInsertionPoint(op);
          all = both(builder, op->getLoc(), all, can, getKnown(all),
                     getKnown(can));
        });
        return Values{all};
      })
      .Case([&](shape::CstrBroadcastableOp) { return requireBroadcast(); })
      .Case([&](shape::CstrEqOp) -> FailureOr<Values> {
        auto shapes = getShapes(op->getOperands());
        if (failed(shapes))
          return failure();
        if (!op->use_empty())
          require(op, areEqual(op, *shapes), "shapes must be equal");
        return Values{Value()};
      })
      .Case([&](shape::CstrRequireOp check) -> FailureOr<Values> {
        requireAsWritten(op, op->getOperand(0), check.getMsg());
        return Values{Value()};
      })
      .Case([&](shape::ConstWitnessOp witness) -> FailureOr<Values> {
        if (!op->use_empty())
          require(op, makeCondition(op, witness.getPassing()), "is false");
        return Values{Value()};
      })
      .Case([&](shape::AssumingAllOp) { return Values{Value()}; })
      .Default([&](Operation *) -> FailureOr<Values> {
        return refuse(op) << "of shape there is what computes sizes and "
                             "requires something of them";
      });
}
