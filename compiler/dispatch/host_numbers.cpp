// Integer arithmetic of the host function, each computation once.

#include "compiler/dispatch/host_numbers.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace alula::dispatch;

HostNumbers::HostNumbers(func::FuncOp function)
    : function(function), builder(function.getContext()) {}

/// To the earliest place where all operands are there.
void HostNumbers::moveAfter(ArrayRef<Value> operands) {
  Block *block = &function.front();
  Operation *latest = nullptr;
  for (Value operand : operands) {
    Block *home = operand.getParentBlock();
    Operation *owner = operand.getDefiningOp();
    if (home == block) {
      if (owner && (!latest || latest->isBeforeInBlock(owner)))
        latest = owner;
    } else if (block->findAncestorOpInBlock(*home->getParentOp())) {
      block = home;
      latest = owner;
    }
  }
  if (latest)
    builder.setInsertionPointAfter(latest);
  else
    builder.setInsertionPointToStart(block);
}

template <typename Op, typename... Args>
Value HostNumbers::build(ArrayRef<Value> operands, Args &&...args) {
  std::vector<void *> pointers;
  for (Value operand : operands)
    pointers.push_back(operand.getAsOpaquePointer());
  int64_t extra = 0;
  if constexpr (std::is_same_v<Op, arith::CmpIOp>)
    extra = static_cast<int64_t>((args, ...));
  auto key =
      std::make_tuple(const_cast<void *>(OperationName(Op::getOperationName(),
                                                       function.getContext())
                                             .getAsOpaquePointer()),
                      extra, pointers);
  auto found = known.find(key);
  if (found == known.end() && Op::template hasTrait<OpTrait::IsCommutative>()) {
    auto turned = key;
    std::reverse(std::get<2>(turned).begin(), std::get<2>(turned).end());
    found = known.find(turned);
  }
  if (found != known.end())
    return found->second;
  moveAfter(operands);
  Location location = function.getLoc();
  for (Value operand : operands)
    if (Operation *owner = operand.getDefiningOp();
        owner && !matchPattern(operand, m_Constant()))
      location = owner->getLoc();
  Value value = [&] {
    if constexpr (std::is_same_v<Op, arith::CmpIOp>)
      return builder.createOrFold<Op>(location, std::forward<Args>(args)...,
                                      operands[0], operands[1]);
    else if constexpr (std::is_same_v<Op, tensor::ExtractOp>)
      return builder.create<Op>(location, operands[0], operands.drop_front())
          .getResult();
    else if constexpr (std::is_same_v<Op, arith::IndexCastOp> ||
                       std::is_same_v<Op, arith::IndexCastUIOp>)
      return builder.createOrFold<Op>(location, builder.getIndexType(),
                                      operands[0]);
    else if constexpr (std::is_same_v<Op, arith::SelectOp>)
      return builder.createOrFold<Op>(location, operands[0], operands[1],
                                      operands[2]);
    else
      return builder.createOrFold<Op>(location, operands[0], operands[1]);
  }();
  if (value.getType().isIndex())
    if (auto constant = getConstantIntValue(value))
      value = make(*constant);
  return known[key] = value;
}

Value HostNumbers::make(int64_t value) {
  using Info = DenseMapInfo<int64_t>;
  // Two numbers are no keys of the map.
  bool isKey = value != Info::getEmptyKey() && value != Info::getTombstoneKey();
  Value constant = isKey ? constants.lookup(value) : Value();
  if (constant)
    return constant;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&function.front());
  constant = builder.create<arith::ConstantIndexOp>(function.getLoc(), value);
  if (isKey)
    constants[value] = constant;
  return constant;
}

Value HostNumbers::makeTrue() {
  return compare(arith::CmpIPredicate::eq, make(0), make(0));
}

Value HostNumbers::getDim(Value tensor, int64_t dim) {
  return build<tensor::DimOp>({tensor, make(dim)});
}

Value HostNumbers::extract(Value tensor, ArrayRef<int64_t> position) {
  SmallVector<Value> operands{tensor};
  for (int64_t at : position)
    operands.push_back(make(at));
  Value element = build<tensor::ExtractOp>(operands);
  Type type = element.getType();
  if (type.isInteger(1) || type.isIndex())
    return element;
  if (!type.isUnsignedInteger())
    return build<arith::IndexCastOp>({element});
  // Arithmetic has no signs in its types.
  builder.setInsertionPointAfterValue(element);
  Value plain =
      builder
          .create<UnrealizedConversionCastOp>(
              element.getLoc(),
              builder.getIntegerType(type.getIntOrFloatBitWidth()), element)
          .getResult(0);
  return build<arith::IndexCastUIOp>({plain});
}

namespace {
std::optional<int64_t> getConstant(Value value) {
  return getConstantIntValue(value);
}

/// Constants stand right, where they fold.
void order(Value &a, Value &b) {
  if (getConstant(a))
    std::swap(a, b);
}
} // namespace

Value HostNumbers::add(Value a, Value b) {
  order(a, b);
  return build<arith::AddIOp>({a, b});
}

Value HostNumbers::subtract(Value a, Value b) {
  return build<arith::SubIOp>({a, b});
}

Value HostNumbers::multiply(Value a, Value b) {
  order(a, b);
  return build<arith::MulIOp>({a, b});
}

Value HostNumbers::divide(Value a, Value b) {
  if (!getConstant(b))
    b = select(compare(arith::CmpIPredicate::eq, b, make(0)), make(1), b);
  else if (getConstant(b) == 0)
    return make(0);
  // Rounding down and towards zero are one where nothing is negative.
  if (isNotNegative(a) && isNotNegative(b))
    return build<arith::DivUIOp>({a, b});
  return build<arith::DivSIOp>({a, b});
}

Value HostNumbers::getRemainder(Value a, Value b) {
  return subtract(a, multiply(divide(a, b), b));
}

Value HostNumbers::getMaximum(Value a, Value b) {
  for (auto [x, y] : {std::pair(a, b), std::pair(b, a)})
    if (getConstant(x) && *getConstant(x) <= 0 && isNotNegative(y))
      return y;
  return build<arith::MaxSIOp>({a, b});
}

Value HostNumbers::getMinimum(Value a, Value b) {
  return build<arith::MinSIOp>({a, b});
}

Value HostNumbers::bitAnd(Value a, Value b) {
  order(a, b);
  return build<arith::AndIOp>({a, b});
}
Value HostNumbers::bitOr(Value a, Value b) {
  order(a, b);
  return build<arith::OrIOp>({a, b});
}
Value HostNumbers::bitXor(Value a, Value b) {
  order(a, b);
  return build<arith::XOrIOp>({a, b});
}

Value HostNumbers::compare(arith::CmpIPredicate predicate, Value a, Value b) {
  if (predicate == arith::CmpIPredicate::sge && getConstant(b) &&
      *getConstant(b) <= 0 && isNotNegative(a))
    return makeTrue();
  if (predicate == arith::CmpIPredicate::sle && getConstant(a) &&
      *getConstant(a) <= 0 && isNotNegative(b))
    return makeTrue();
  return build<arith::CmpIOp>({a, b}, predicate);
}

Value HostNumbers::select(Value condition, Value a, Value b) {
  return build<arith::SelectOp>({condition, a, b});
}

bool HostNumbers::isNotNegative(Value number, unsigned depth) {
  if (auto constant = getConstant(number))
    return *constant >= 0;
  Operation *op = number.getDefiningOp();
  if (!op || depth == 0)
    return false;
  auto isFine = [&](Value operand) {
    return isNotNegative(operand, depth - 1);
  };
  if (isa<tensor::DimOp, arith::DivUIOp, arith::RemUIOp>(op))
    return true;
  if (isa<arith::MaxSIOp>(op))
    return llvm::any_of(op->getOperands(), isFine);
  if (isa<arith::AddIOp, arith::MulIOp, arith::MinSIOp, arith::DivSIOp>(op))
    return llvm::all_of(op->getOperands(), isFine);
  if (isa<arith::SelectOp>(op))
    return llvm::all_of(op->getOperands().drop_front(), isFine);
  return false;
}
