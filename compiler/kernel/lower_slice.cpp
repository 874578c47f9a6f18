// Slices, padding, concatenation: parts of tensors.

#include "compiler/kernel/families.h"

#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace alula::kernel;
using Predicate = arith::CmpIPredicate;

Value alula::kernel::generateSlice(OpResult result, ValueRange indices,
                                   Lowering &lowering) {
  auto slice = cast<stablehlo::SliceOp>(result.getOwner());
  SmallVector<Value> source;
  for (auto [index, start, stride] : llvm::zip_equal(
           indices, slice.getStartIndices(), slice.getStrides()))
    source.push_back(
        lowering.add(lowering.mul(index, lowering.index(stride)),
                     lowering.index(start)));
  return lowering.getElement(slice.getOperand(), source);
}

namespace {
/// Where a slice of `sizes` begins that must lie inside `operand`.
SmallVector<Value> getStarts(Lowering &lowering, Value operand,
                             ValueRange starts, ArrayRef<Value> sizes) {
  SmallVector<Value> clamped;
  for (auto [dim, start] : llvm::enumerate(starts)) {
    Value limit = lowering.sub(
        lowering.getDim(operand, static_cast<int64_t>(dim)), sizes[dim]);
    clamped.push_back(
        lowering.clamp(lowering.getIndexElement(start, {}), limit));
  }
  return clamped;
}

SmallVector<Value> addEach(Lowering &lowering, ArrayRef<Value> a,
                           ValueRange b) {
  SmallVector<Value> sums;
  for (auto [x, y] : llvm::zip_equal(a, b))
    sums.push_back(lowering.add(x, y));
  return sums;
}
} // namespace

Value alula::kernel::generateDynamicSlice(OpResult result, ValueRange indices,
                                          Lowering &lowering) {
  auto slice = cast<stablehlo::DynamicSliceOp>(result.getOwner());
  SmallVector<Value> starts =
      getStarts(lowering, slice.getOperand(), slice.getStartIndices(),
                lowering.getShape(result));
  return lowering.getElement(slice.getOperand(),
                             addEach(lowering, starts, indices));
}

Value alula::kernel::generateRealDynamicSlice(OpResult result,
                                              ValueRange indices,
                                              Lowering &lowering) {
  auto slice = cast<stablehlo::RealDynamicSliceOp>(result.getOwner());
  SmallVector<Value> source;
  for (auto [dim, index] : llvm::enumerate(indices)) {
    Value at = lowering.index(static_cast<int64_t>(dim));
    Value start = lowering.getIndexElement(slice.getStartIndices(), at);
    Value stride = lowering.getIndexElement(slice.getStrides(), at);
    source.push_back(lowering.add(start, lowering.mul(index, stride)));
  }
  return lowering.getElement(slice.getOperand(), source);
}

void alula::kernel::emitDynamicUpdateSlice(Operation *op, Lowering &lowering) {
  auto update = cast<stablehlo::DynamicUpdateSliceOp>(op);
  SmallVector<Value> sizes = lowering.getShape(update.getUpdate());
  SmallVector<Value> starts = getStarts(lowering, update.getOperand(),
                                        update.getStartIndices(), sizes);
  Value buffer = lowering.createUpdated(cast<OpResult>(update.getResult()),
                                        update.getOperand());
  lowering.forEach(sizes, [&](ValueRange indices) {
    lowering.store(lowering.getElement(update.getUpdate(), indices),
                   getElementType(update.getUpdate()), buffer,
                   addEach(lowering, starts, indices));
  });
}

Value alula::kernel::generateConcatenate(OpResult result, ValueRange indices,
                                         Lowering &lowering) {
  auto concatenate = cast<stablehlo::ConcatenateOp>(result.getOwner());
  auto dim = static_cast<size_t>(concatenate.getDimension());
  SmallVector<Value> begins{lowering.index(0)};
  for (Value input : concatenate.getInputs())
    begins.push_back(lowering.add(
        begins.back(), lowering.getDim(input, static_cast<int64_t>(dim))));
  Type type = getValueType(getElementType(result));
  // By halves, so that many inputs are few decisions.
  std::function<Value(size_t, size_t)> search = [&](size_t low,
                                                    size_t high) -> Value {
    if (high - low == 1) {
      SmallVector<Value> source(indices);
      source[dim] = lowering.sub(indices[dim], begins[low]);
      return lowering.getElement(concatenate.getInputs()[low], source);
    }
    size_t middle = (low + high) / 2;
    Value isBefore =
        lowering.compare(Predicate::ult, indices[dim], begins[middle]);
    return lowering.choose(
        isBefore, type,
        [&] { return SmallVector<Value>{search(low, middle)}; },
        [&] { return SmallVector<Value>{search(middle, high)}; })[0];
  };
  return search(0, concatenate.getInputs().size());
}

void alula::kernel::emitConcatenate(Operation *op, Lowering &lowering) {
  auto concatenate = cast<stablehlo::ConcatenateOp>(op);
  auto dim = static_cast<size_t>(concatenate.getDimension());
  Value buffer = lowering.createResult(concatenate.getResult());
  Value begin = lowering.index(0);
  for (Value input : concatenate.getInputs()) {
    SmallVector<Value> sizes = lowering.getShape(input);
    lowering.forEach(sizes, [&](ValueRange indices) {
      SmallVector<Value> target(indices);
      target[dim] = lowering.add(begin, indices[dim]);
      lowering.store(lowering.getElement(input, indices),
                     getElementType(input), buffer, target);
    });
    begin = lowering.add(begin, sizes[dim]);
  }
}

namespace {
/// Low edge and step between elements, of pad and dynamic_pad.
struct Padding {
  Value low, step;
};

Padding getPadding(Lowering &lowering, Operation *op, size_t dim) {
  if (auto pad = dyn_cast<stablehlo::PadOp>(op))
    return {lowering.index(pad.getEdgePaddingLow()[dim]),
            lowering.index(pad.getInteriorPadding()[dim] + 1)};
  auto pad = cast<stablehlo::DynamicPadOp>(op);
  Value at = lowering.index(static_cast<int64_t>(dim));
  Value low = lowering.getIndexElement(pad.getEdgePaddingLow(), at);
  Value interior = lowering.getIndexElement(pad.getInteriorPadding(), at);
  return {low, lowering.add(interior, lowering.index(1))};
}
} // namespace

Value alula::kernel::generatePad(OpResult result, ValueRange indices,
                                 Lowering &lowering) {
  Operation *op = result.getOwner();
  Value operand = op->getOperand(0), padding = op->getOperand(1);
  Value isInside = lowering.makeTrue();
  SmallVector<Value> source;
  for (auto [dim, index] : llvm::enumerate(indices)) {
    Padding edges = getPadding(lowering, op, dim);
    Value size = lowering.getDim(operand, static_cast<int64_t>(dim));
    // Before the low edge the difference is a huge unsigned number.
    Value distance = lowering.sub(index, edges.low);
    Value position = lowering.div(distance, edges.step);
    bool isPlain = getConstantIntValue(edges.low) == 0 &&
                   getConstantIntValue(edges.step) == 1 &&
                   getConstantIntValue(size) ==
                       getConstantIntValue(lowering.getDim(
                           result, static_cast<int64_t>(dim))) &&
                   getConstantIntValue(size);
    if (!isPlain) {
      isInside = lowering.both(
          isInside, lowering.compare(Predicate::eq,
                                     lowering.rem(distance, edges.step),
                                     lowering.index(0)));
      isInside = lowering.both(
          isInside, lowering.compare(Predicate::ult, position, size));
    }
    source.push_back(position);
  }
  return lowering.choose(
      isInside, getValueType(getElementType(result)),
      [&] { return SmallVector<Value>{lowering.getElement(operand, source)}; },
      [&] { return SmallVector<Value>{lowering.getScalar(padding)}; })[0];
}

void alula::kernel::emitPad(Operation *op, Lowering &lowering) {
  auto pad = dyn_cast<stablehlo::PadOp>(op);
  bool isCutting =
      !pad || llvm::any_of(pad.getEdgePaddingLow(), [](int64_t n) { return n < 0; }) ||
      llvm::any_of(pad.getEdgePaddingHigh(), [](int64_t n) { return n < 0; });
  Value result = op->getResult(0);
  // Where elements are cut off each one must be asked for its place.
  if (isCutting)
    return lowering.materialize(result);
  Type element = getElementType(result);
  Value buffer = lowering.createResult(result);
  Value padding = lowering.getScalar(pad.getPaddingValue());
  lowering.forEach(lowering.getShape(result), [&](ValueRange indices) {
    lowering.store(padding, element, buffer, indices);
  });
  lowering.forEach(lowering.getShape(pad.getOperand()),
                   [&](ValueRange indices) {
                     SmallVector<Value> target;
                     for (auto [dim, index] : llvm::enumerate(indices)) {
                       Padding edges = getPadding(lowering, op, dim);
                       target.push_back(lowering.add(
                           edges.low, lowering.mul(index, edges.step)));
                     }
                     lowering.store(
                         lowering.getElement(pad.getOperand(), indices),
                         element, buffer, target);
                   });
}
