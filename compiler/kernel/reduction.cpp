// Applies the body of a reduction, and keeps its state.

#include "compiler/kernel/reduction.h"

#include "compiler/kernel/element/scalar.h"
#include "compiler/kernel/element/sum_types.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace alula::kernel;

Reduction::Reduction(Operation *op, Block &body, ValueRange inputs,
                     ValueRange initValues, Lowering &lowering)
    : op(op), body(body), inputs(inputs), initValues(initValues),
      lowering(lowering), results(op->getResults()) {
  fold = findFloatFold(op, body);
  if (fold)
    floatType = getSumType(getElementType(results[0]));
  isWide = floatType && getMemoryType(getElementType(results[0])) != floatType;
}

Value Reduction::convert(Value value, Type from, unsigned k) {
  if (floatType)
    return widenForSum(lowering, op, value, from, floatType);
  Type to = getElementType(body.getArgument(k));
  return from == to ? value : convertScalar(lowering, op, value, from, to);
}

// The order of a sum or product is free, which pays where it is long.
arith::FastMathFlags Reduction::getOrder() const {
  return isa<stablehlo::ReduceOp>(op) ? arith::FastMathFlags::reassoc
                                      : arith::FastMathFlags::none;
}

Value Reduction::add(Value a, Value b) {
  return lowering.b.create<arith::AddFOp>(a, b, getOrder());
}

Value Reduction::addAsWritten(Value a, Value b) {
  return lowering.b.create<arith::AddFOp>(a, b);
}

Type Reduction::getFloatSum() const {
  return isa_and_nonnull<stablehlo::AddOp>(fold) ? floatType : Type();
}

Value Reduction::getNeutral() { return makeNumber(lowering, floatType, -0.0); }

SmallVector<Value> Reduction::getInitial() {
  SmallVector<Value> initial;
  for (auto [k, value] : llvm::enumerate(initValues))
    initial.push_back(convert(lowering.getScalar(value), getElementType(value),
                              static_cast<unsigned>(k)));
  return initial;
}

SmallVector<Value> Reduction::begin(ValueRange indices) {
  SmallVector<Value> elements;
  for (auto [k, input] : llvm::enumerate(inputs))
    elements.push_back(convert(lowering.getElement(input, indices),
                               getElementType(input),
                               static_cast<unsigned>(k)));
  return elements;
}

SmallVector<Value> Reduction::combine(ValueRange a, ValueRange b) {
  if (isa_and_nonnull<stablehlo::AddOp>(fold))
    return {add(a[0], b[0])};
  if (isa_and_nonnull<stablehlo::MulOp>(fold))
    return {lowering.b.create<arith::MulFOp>(a[0], b[0], getOrder())};
  if (isa_and_nonnull<stablehlo::MaxOp>(fold))
    return {lowering.b.create<arith::MaximumFOp>(a[0], b[0])};
  if (isa_and_nonnull<stablehlo::MinOp>(fold))
    return {lowering.b.create<arith::MinimumFOp>(a[0], b[0])};
  SmallVector<Value> arguments(a);
  llvm::append_range(arguments, b);
  return lowering.call(body, arguments);
}

SmallVector<Value> Reduction::append(ValueRange state, ValueRange indices) {
  return combine(state, begin(indices));
}

SmallVector<Value> Reduction::prepend(ValueRange state, ValueRange indices) {
  return combine(begin(indices), state);
}

SmallVector<Value> Reduction::finish(ValueRange state) {
  if (floatType)
    return {roundSum(lowering, state[0], getElementType(results[0]))};
  return llvm::to_vector(state);
}

SmallVector<Value>
Reduction::foldInParts(int64_t parts, int64_t terms,
                       llvm::function_ref<SmallVector<Value>(Value)> at) {
  int64_t length = terms / parts;
  auto getPlace = [&](Value part, Value step) {
    return lowering.add(lowering.mul(part, lowering.index(length)), step);
  };
  Value count = lowering.index(parts);
  SmallVector<Value> memory = createTemporaries(count);
  lowering.forEach({count}, [&](ValueRange part) {
    store(begin(at(getPlace(part[0], lowering.index(0)))), memory, part);
  });
  lowering.foldRange(
      lowering.index(1), lowering.index(length), {},
      [&](ValueRange step, ValueRange) -> SmallVector<Value> {
        lowering.forEach({count}, [&](ValueRange part) {
          store(append(load(memory, part), at(getPlace(part[0], step[0]))),
                memory, part);
        });
        return {};
      });
  SmallVector<Value> state = lowering.fold(
      {count}, getInitial(), [&](ValueRange part, ValueRange carried) {
        return combine(carried, load(memory, part));
      });
  return finish(lowering.foldRange(lowering.index(length * parts),
                                   lowering.index(terms), state,
                                   [&](ValueRange place, ValueRange carried) {
                                     return append(carried, at(place[0]));
                                   }));
}

Type Reduction::getStateType(unsigned k) {
  return isWide ? floatType : getElementType(results[k]);
}

void Reduction::createStates() {
  for (Value result : results)
    states.push_back(
        isWide ? lowering.createTemporary(lowering.getShape(result), floatType)
               : lowering.createResult(result));
}

SmallVector<Value> Reduction::createTemporaries(ValueRange sizes) {
  SmallVector<Value> memory;
  for (unsigned k = 0; k < results.size(); ++k)
    memory.push_back(
        lowering.createTemporary(sizes, getMemoryType(getStateType(k))));
  return memory;
}

SmallVector<Value> Reduction::load(ValueRange memory, ValueRange indices) {
  SmallVector<Value> state;
  for (auto [k, part] : llvm::enumerate(memory))
    state.push_back(
        lowering.load(part, indices, getStateType(static_cast<unsigned>(k))));
  return state;
}

void Reduction::store(ValueRange state, ValueRange memory, ValueRange indices) {
  for (auto [k, value] : llvm::enumerate(state))
    lowering.store(value, getStateType(static_cast<unsigned>(k)), memory[k],
                   indices);
}

void Reduction::finishStates() {
  if (!isWide)
    return;
  Value buffer = lowering.createResult(results[0]);
  lowering.forEach(lowering.getShape(results[0]), [&](ValueRange indices) {
    lowering.store(finish(load(indices))[0], getElementType(results[0]), buffer,
                   indices);
  });
}
