// Slices, padding, concatenation: parts of tensors.

#include "compiler/kernel/element/generators.h"
#include "compiler/kernel/element/reader.h"
#include "compiler/kernel/element/slice_places.h"

#include "dialect/stablehlo/ops.h"
#include "dialect/stablehlo/wrapped_slices.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace alula::kernel;
using Predicate = arith::CmpIPredicate;

Value alula::kernel::generateSlice(OpResult result, ValueRange indices,
                                   Reader &reader) {
  auto slice = cast<stablehlo::SliceOp>(result.getOwner());
  SmallVector<Value> source;
  for (auto [index, start, stride] :
       llvm::zip_equal(indices, slice.getStartIndices(), slice.getStrides()))
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

std::optional<std::pair<int64_t, int64_t>>
alula::kernel::getKnownRange(Value index) {
  if (auto constant = getConstantIntValue(index))
    return std::pair{*constant, *constant + 1};
  if (auto sum = index.getDefiningOp<arith::AddIOp>())
    for (auto [part, other] : {std::pair{sum.getLhs(), sum.getRhs()},
                               std::pair{sum.getRhs(), sum.getLhs()}})
      if (auto distance = getConstantIntValue(other))
        if (auto range = getKnownRange(part))
          return std::pair{range->first + *distance, range->second + *distance};
  auto variable = dyn_cast<BlockArgument>(index);
  auto loop =
      variable ? dyn_cast<scf::ParallelOp>(variable.getOwner()->getParentOp())
               : scf::ParallelOp();
  if (!loop)
    return std::nullopt;
  unsigned number = variable.getArgNumber();
  auto lower = getConstantIntValue(loop.getLowerBound()[number]),
       upper = getConstantIntValue(loop.getUpperBound()[number]);
  if (!lower || !upper)
    return std::nullopt;
  return std::pair{*lower, *upper};
}

/// The element of the only tensor that all pieces are of: which piece it is
/// decides the place, not what is read.
static Value getWrapped(const stablehlo::WrappedSlices &wrapped, size_t dim,
                        ValueRange indices, Reader &reader) {
  Value distance = reader.index(wrapped.distances.back());
  for (size_t piece = wrapped.begins.size() - 1; piece-- > 0;)
    distance =
        reader.select(reader.compare(Predicate::ult, indices[dim],
                                     reader.index(wrapped.begins[piece + 1])),
                      reader.index(wrapped.distances[piece]), distance);
  SmallVector<Value> source;
  for (auto [index, start] : llvm::zip_equal(indices, wrapped.starts))
    source.push_back(reader.add(index, reader.index(start)));
  source[dim] = reader.add(source[dim], distance);
  return reader.getElement(wrapped.source, source);
}

/// The piece that an index is surely in.
static std::optional<size_t> findPiece(Value index, ArrayRef<Value> begins) {
  auto range = getKnownRange(index);
  if (!range)
    return std::nullopt;
  for (size_t piece = 0; piece + 1 < begins.size(); ++piece) {
    auto begin = getConstantIntValue(begins[piece]),
         end = getConstantIntValue(begins[piece + 1]);
    if (begin && end && *begin <= range->first && range->second <= *end)
      return piece;
  }
  return std::nullopt;
}

Value alula::kernel::generateConcatenate(OpResult result, ValueRange indices,
                                         Reader &reader) {
  auto concatenate = cast<stablehlo::ConcatenateOp>(result.getOwner());
  auto dim = static_cast<size_t>(concatenate.getDimension());
  SmallVector<Value> begins{reader.index(0)};
  for (Value input : concatenate.getInputs())
    begins.push_back(reader.add(
        begins.back(), reader.getDim(input, static_cast<int64_t>(dim))));
  auto getPiece = [&](size_t piece) {
    SmallVector<Value> source(indices);
    source[dim] = reader.sub(indices[dim], begins[piece]);
    return reader.getElement(concatenate.getInputs()[piece], source);
  };
  if (auto piece = findPiece(indices[dim], begins))
    return getPiece(*piece);
  if (auto wrapped = stablehlo::findWrappedSlices(concatenate))
    return getWrapped(*wrapped, dim, indices, reader);
  Type type = getValueType(getElementType(result));
  // By halves, so that many inputs are few decisions.
  std::function<Value(size_t, size_t)> search = [&](size_t low,
                                                    size_t high) -> Value {
    if (high - low == 1)
      return getPiece(low);
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
