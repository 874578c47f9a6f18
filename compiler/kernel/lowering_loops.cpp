// Index arithmetic and control flow of a lowering.

#include "compiler/kernel/lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace alula::kernel;

// ---- Index arithmetic ----

Value Lowering::index(int64_t value) {
  using Info = DenseMapInfo<int64_t>;
  // No keys of the map.
  if (value == Info::getEmptyKey() || value == Info::getTombstoneKey())
    return b.create<arith::ConstantIndexOp>(value);
  Value &constant = indexConstants[value];
  if (!constant) {
    // Where every loop sees it.
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&function.front());
    constant = b.create<arith::ConstantIndexOp>(value);
  }
  return constant;
}

Value Lowering::makeTrue() {
  return b.create<arith::ConstantOp>(b.getBoolAttr(true));
}

Value Lowering::add(Value a, Value other) {
  auto x = getConstantIntValue(a), y = getConstantIntValue(other);
  if (x && y)
    return index(*x + *y);
  if (x == 0)
    return other;
  if (y == 0)
    return a;
  return b.create<arith::AddIOp>(a, other);
}

Value Lowering::sub(Value a, Value other) {
  auto x = getConstantIntValue(a), y = getConstantIntValue(other);
  if (x && y)
    return index(*x - *y);
  return y == 0 ? a : b.create<arith::SubIOp>(a, other).getResult();
}

Value Lowering::mul(Value a, Value other) {
  auto x = getConstantIntValue(a), y = getConstantIntValue(other);
  if (x && y)
    return index(*x * *y);
  if (x == 0 || y == 1)
    return a;
  if (y == 0 || x == 1)
    return other;
  return b.create<arith::MulIOp>(a, other);
}

Value Lowering::div(Value a, Value other) {
  auto x = getConstantIntValue(a), y = getConstantIntValue(other);
  if (x && y && *y)
    return index(*x / *y);
  return y == 1 ? a : b.create<arith::DivUIOp>(a, other).getResult();
}

Value Lowering::ceilDiv(Value a, Value other) {
  return div(add(a, sub(other, index(1))), other);
}

Value Lowering::min(Value a, Value other) {
  auto x = getConstantIntValue(a), y = getConstantIntValue(other);
  if (x && y)
    return index(std::min(*x, *y));
  return b.create<arith::MinSIOp>(a, other);
}

Value Lowering::rem(Value a, Value other) {
  auto x = getConstantIntValue(a), y = getConstantIntValue(other);
  if (x && y && *y)
    return index(*x % *y);
  return y == 1 ? index(0) : b.create<arith::RemUIOp>(a, other).getResult();
}

Value Lowering::clamp(Value value, Value limit) {
  if (getConstantIntValue(limit) == 0)
    return limit;
  Value low = b.create<arith::MaxSIOp>(value, index(0));
  return b.create<arith::MinSIOp>(low, limit);
}

Value Lowering::compare(arith::CmpIPredicate predicate, Value a, Value other) {
  return b.createOrFold<arith::CmpIOp>(predicate, a, other);
}

Value Lowering::both(Value a, Value other) {
  if (getConstantIntValue(a))
    return *getConstantIntValue(a) ? other : a;
  if (getConstantIntValue(other))
    return *getConstantIntValue(other) ? a : other;
  return b.create<arith::AndIOp>(a, other);
}

Value Lowering::select(Value condition, Value a, Value other) {
  if (auto constant = getConstantIntValue(condition))
    return *constant ? a : other;
  return b.create<arith::SelectOp>(condition, a, other);
}

Value Lowering::product(ValueRange sizes) {
  Value all = index(1);
  for (Value size : sizes)
    all = mul(all, size);
  return all;
}

SmallVector<Value> Lowering::getStrides(ValueRange sizes) {
  SmallVector<Value> strides(sizes.size());
  Value stride = index(1);
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = stride;
    stride = mul(stride, sizes[i]);
  }
  return strides;
}

Value Lowering::linearize(ValueRange indices, ValueRange sizes) {
  Value number = index(0);
  for (auto [position, size] : llvm::zip_equal(indices, sizes))
    number = add(mul(number, size), position);
  return number;
}

SmallVector<Value> Lowering::delinearize(Value number, ValueRange sizes) {
  SmallVector<Value> indices(sizes.size());
  for (size_t i = sizes.size(); i-- > 0;) {
    // The first one needs no remainder, nor do those before it of size 1.
    bool isFirst = llvm::all_of(sizes.take_front(i), [](Value size) {
      return getConstantIntValue(size) == 1;
    });
    indices[i] = isFirst ? number : rem(number, sizes[i]);
    if (getConstantIntValue(sizes[i]) == 1)
      indices[i] = index(0);
    else
      number = isFirst ? index(0) : div(number, sizes[i]);
  }
  return indices;
}

// ---- Control flow ----

void Lowering::forEach(ValueRange sizes, Body body) {
  SmallVector<Value> lower, upper, step, indices;
  for (Value size : sizes)
    if (getConstantIntValue(size) != 1) {
      lower.push_back(index(0));
      upper.push_back(size);
      step.push_back(index(1));
    }
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Value> variables;
  if (!upper.empty()) {
    auto loop = b.create<scf::ParallelOp>(lower, upper, step);
    b.setInsertionPoint(loop.getBody()->getTerminator());
    variables = loop.getInductionVars();
  }
  const Value *variable = variables.begin();
  for (Value size : sizes)
    indices.push_back(getConstantIntValue(size) != 1 ? *variable++ : index(0));
  Scope scope(*this);
  body(indices);
}

void Lowering::forEachInSquares(ValueRange sizes, size_t first, size_t second,
                                Body body) {
  // A cache line of floats.
  Value side = index(machine.lineBytes / 4);
  SmallVector<Value> squares(sizes);
  for (size_t dim : {first, second})
    squares[dim] = ceilDiv(sizes[dim], side);
  forEach(squares, [&](ValueRange square) {
    Value row = mul(square[first], side), column = mul(square[second], side);
    Value rows = min(side, sub(sizes[first], row));
    Value columns = min(side, sub(sizes[second], column));
    forEach({rows, columns}, [&](ValueRange inside) {
      SmallVector<Value> indices(square);
      indices[first] = add(row, inside[0]);
      indices[second] = add(column, inside[1]);
      body(indices);
    });
  });
}

void Lowering::forEachBlock(Value count, int64_t steps,
                            llvm::function_ref<void(Value number)> body) {
  if (getConstantIntValue(count) == 1)
    return forEach({}, [&](ValueRange) { body(index(0)); });
  forEach(count, [&](ValueRange number) {
    Operation *loop = b.getInsertionBlock()->getParentOp();
    loop->setAttr("kernel.block_steps", b.getI64IntegerAttr(steps));
    body(number.front());
  });
}

SmallVector<Value> Lowering::foldRange(Value lower, Value upper,
                                       ValueRange initial, Fold body) {
  auto loop = b.create<scf::ForOp>(lower, upper, index(1), initial);
  OpBuilder::InsertionGuard guard(b);
  // Without carried values there is a terminator already.
  if (initial.empty())
    b.setInsertionPoint(loop.getBody()->getTerminator());
  else
    b.setInsertionPointToEnd(loop.getBody());
  Scope scope(*this);
  SmallVector<Value> next =
      body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!initial.empty())
    b.create<scf::YieldOp>(next);
  return llvm::to_vector(ValueRange(loop.getResults()));
}

SmallVector<Value> Lowering::fold(ValueRange sizes, ValueRange initial,
                                  Fold body) {
  SmallVector<Value> indices;
  std::function<SmallVector<Value>(ValueRange)> nest =
      [&](ValueRange carried) -> SmallVector<Value> {
    size_t depth = indices.size();
    if (depth == sizes.size())
      return body(indices, carried);
    if (getConstantIntValue(sizes[depth]) == 1) {
      indices.push_back(index(0));
      SmallVector<Value> next = nest(carried);
      indices.pop_back();
      return next;
    }
    return foldRange(index(0), sizes[depth], carried,
                     [&](ValueRange position, ValueRange inner) {
                       indices.push_back(position.front());
                       SmallVector<Value> next = nest(inner);
                       indices.pop_back();
                       return next;
                     });
  };
  return nest(initial);
}

SmallVector<Value> Lowering::choose(Value condition, TypeRange types,
                                    Branch ifTrue, Branch ifFalse) {
  if (auto constant = getConstantIntValue(condition))
    return *constant ? ifTrue() : ifFalse();
  auto branches = b.create<scf::IfOp>(types, condition, /*addThenBlock=*/true,
                                      /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(b);
  auto fillBranch = [&](Block *block, Branch branch) {
    b.setInsertionPointToEnd(block);
    Scope scope(*this);
    b.create<scf::YieldOp>(branch());
  };
  fillBranch(branches.thenBlock(), ifTrue);
  fillBranch(branches.elseBlock(), ifFalse);
  return llvm::to_vector(ValueRange(branches.getResults()));
}
