// Slices, padding, concatenation: parts of tensors.

#include "compiler/kernel/element/generators.h"
#include "compiler/kernel/element/reader.h"
#include "compiler/kernel/element/slice_places.h"

#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace alula::kernel;
using Predicate = arith::CmpIPredicate;

Value alula::kernel::generateSlice(OpResult result, ValueRange indices,
                                   Reader &reader) {
  auto slice = cast<stablehlo::SliceOp>(result.getOwner());
  SmallVector<Value> source;
  for (auto [index, start, stride] : llvm::zip_equal(
           indices, slice.getStartIndices(), slice.getStrides()))
    source.push_back(reader.add(reader.mul(index, reader.index(stride)),
                                reader.index(start)));
  return reader.getElement(slice.getOperand(), source);
}

SmallVector<Value> alula::kernel::getStarts(Reader &reader, Value operand,
                                            ValueRange starts,
                                            ArrayRef<Value> sizes) {
  SmallVector<Value> clamped;
  for (auto [dim, start] : llvm::enumerate(starts)) {
    Value limit = reader.sub(reader.getDim(operand, static_cast<int64_t>(dim)),
                             sizes[dim]);
    clamped.push_back(reader.clamp(reader.getIndexElement(start, {}), limit));
  }
  return clamped;
}

SmallVector<Value> alula::kernel::addEach(Reader &reader, ArrayRef<Value> a,
                                          ValueRange b) {
  SmallVector<Value> sums;
  for (auto [x, y] : llvm::zip_equal(a, b))
    sums.push_back(reader.add(x, y));
  return sums;
}

Value alula::kernel::generateDynamicSlice(OpResult result, ValueRange indices,
                                          Reader &reader) {
  auto slice = cast<stablehlo::DynamicSliceOp>(result.getOwner());
  SmallVector<Value> starts =
      getStarts(reader, slice.getOperand(), slice.getStartIndices(),
                reader.getShape(result));
  return reader.getElement(slice.getOperand(),
                           addEach(reader, starts, indices));
}

Value alula::kernel::generateRealDynamicSlice(OpResult result,
                                              ValueRange indices,
                                              Reader &reader) {
  auto slice = cast<stablehlo::RealDynamicSliceOp>(result.getOwner());
  SmallVector<Value> source;
  for (auto [dim, index] : llvm::enumerate(indices)) {
    Value at = reader.index(static_cast<int64_t>(dim));
    Value start = reader.getIndexElement(slice.getStartIndices(), at);
    Value stride = reader.getIndexElement(slice.getStrides(), at);
    source.push_back(reader.add(start, reader.mul(index, stride)));
  }
  return reader.getElement(slice.getOperand(), source);
}

Value alula::kernel::generateConcatenate(OpResult result, ValueRange indices,
                                         Reader &reader) {
  auto concatenate = cast<stablehlo::ConcatenateOp>(result.getOwner());
  auto dim = static_cast<size_t>(concatenate.getDimension());
  SmallVector<Value> begins{reader.index(0)};
  for (Value input : concatenate.getInputs())
    begins.push_back(reader.add(
        begins.back(), reader.getDim(input, static_cast<int64_t>(dim))));
  Type type = getValueType(getElementType(result));
  // By halves, so that many inputs are few decisions.
  std::function<Value(size_t, size_t)> search = [&](size_t low,
                                                    size_t high) -> Value {
    if (high - low == 1) {
      SmallVector<Value> source(indices);
      source[dim] = reader.sub(indices[dim], begins[low]);
      return reader.getElement(concatenate.getInputs()[low], source);
    }
    size_t middle = (low + high) / 2;
    Value isBefore =
        reader.compare(Predicate::ult, indices[dim], begins[middle]);
    return reader.choose(
        isBefore, type, [&] { return SmallVector<Value>{search(low, middle)}; },
        [&] { return SmallVector<Value>{search(middle, high)}; })[0];
  };
  return search(0, concatenate.getInputs().size());
}

Padding alula::kernel::getPadding(Reader &reader, Operation *op, size_t dim) {
  if (auto pad = dyn_cast<stablehlo::PadOp>(op))
    return {reader.index(pad.getEdgePaddingLow()[dim]),
            reader.index(pad.getInteriorPadding()[dim] + 1)};
  auto pad = cast<stablehlo::DynamicPadOp>(op);
  Value at = reader.index(static_cast<int64_t>(dim));
  Value low = reader.getIndexElement(pad.getEdgePaddingLow(), at);
  Value interior = reader.getIndexElement(pad.getInteriorPadding(), at);
  return {low, reader.add(interior, reader.index(1))};
}

Value alula::kernel::generatePad(OpResult result, ValueRange indices,
                                 Reader &reader) {
  Operation *op = result.getOwner();
  Value operand = op->getOperand(0), padding = op->getOperand(1);
  Value isInside = reader.makeTrue();
  SmallVector<Value> source;
  for (auto [dim, index] : llvm::enumerate(indices)) {
    Padding edges = getPadding(reader, op, dim);
    Value size = reader.getDim(operand, static_cast<int64_t>(dim));
    // Before the low edge the difference is a huge unsigned number.
    Value distance = reader.sub(index, edges.low);
    Value position = reader.div(distance, edges.step);
    bool isPlain = getConstantIntValue(edges.low) == 0 &&
                   getConstantIntValue(edges.step) == 1 &&
                   getConstantIntValue(size) ==
                       getConstantIntValue(
                           reader.getDim(result, static_cast<int64_t>(dim))) &&
                   getConstantIntValue(size);
    if (!isPlain) {
      isInside =
          reader.both(isInside, reader.compare(Predicate::eq,
                                               reader.rem(distance, edges.step),
                                               reader.index(0)));
      isInside =
          reader.both(isInside, reader.compare(Predicate::ult, position, size));
    }
    source.push_back(position);
  }
  return reader.choose(
      isInside, getValueType(getElementType(result)),
      [&] { return SmallVector<Value>{reader.getElement(operand, source)}; },
      [&] { return SmallVector<Value>{reader.getScalar(padding)}; })[0];
}
