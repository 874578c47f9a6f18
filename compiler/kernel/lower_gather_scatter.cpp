// gather, dynamic_gather and scatter: windows of a big tensor, each at a corner
// that an index vector names, and a small tensor that holds all of them.

#include "compiler/kernel/families.h"
#include "compiler/kernel/scalar.h"

#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace alula::kernel;
using Predicate = arith::CmpIPredicate;

namespace {
using Dims = SmallVector<int64_t>;

int64_t getRank(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getRank();
}

SmallVector<Value> pick(ArrayRef<Value> values, ArrayRef<int64_t> dims) {
  SmallVector<Value> picked;
  for (int64_t dim : dims)
    picked.push_back(values[static_cast<size_t>(dim)]);
  return picked;
}

/// Which dimension of the three tensors plays which part.
class WindowMap {
public:
  WindowMap(Dims windowDims, ArrayRef<int64_t> inserted, Dims bigBatching,
            Dims indexBatching, Dims indexMap, int64_t indexVectorDim,
            Value big, Value indices, int64_t smallRank)
      : windowDims(std::move(windowDims)), bigBatching(std::move(bigBatching)),
        indexBatching(std::move(indexBatching)), indexMap(std::move(indexMap)),
        inserted(inserted), indexVectorDim(indexVectorDim), indices(indices),
        bigRank(getRank(big)) {
    for (int64_t dim = 0; dim < smallRank; ++dim)
      if (!llvm::is_contained(this->windowDims, dim))
        batchDims.push_back(dim);
    for (int64_t dim = 0; dim < bigRank; ++dim)
      if (!llvm::is_contained(inserted, dim) &&
          !llvm::is_contained(this->bigBatching, dim))
        windowOfBig.push_back(dim);
  }

  /// Number `k` of the index vector of a position in the batch.
  Value readIndex(Lowering &lowering, ValueRange batch, size_t k) const {
    SmallVector<Value> at(batch);
    if (indexVectorDim < getRank(indices))
      at.insert(at.begin() + indexVectorDim,
                lowering.index(static_cast<int64_t>(k)));
    return lowering.getIndexElement(indices, at);
  }
  bool isUnsigned() const {
    return getElementKind(getElementType(indices)) == ElementKind::Unsigned;
  }
  /// The dimension of the batch that a dimension of the indices is.
  size_t getBatchOfIndex(int64_t dim) const {
    return static_cast<size_t>(dim - (dim > indexVectorDim ? 1 : 0));
  }

  Dims windowDims, batchDims; ///< Of the small tensor.
  Dims windowOfBig;           ///< Big dimension of each of the windowDims.
  Dims bigBatching, indexBatching;
  Dims indexMap;
  Dims inserted; ///< Big dimensions that windows have at one place alone.
  int64_t indexVectorDim;
  Value indices;
  int64_t bigRank;
};

//===----------------------------------------------------------------------===//
// gather
//===----------------------------------------------------------------------===//

class Gather {
public:
  Gather(Operation *op, Lowering &lowering)
      : operand(op->getOperand(0)), result(op->getResult(0)),
        lowering(lowering), map(makeMap(op)) {
    if (auto gather = dyn_cast<stablehlo::GatherOp>(op)) {
      for (int64_t size : gather.getSliceSizes())
        sliceSizes.push_back(lowering.index(size));
      return;
    }
    Value sizes = op->getOperand(2);
    for (int64_t dim = 0; dim < map.bigRank; ++dim)
      sliceSizes.push_back(
          lowering.getIndexElement(sizes, lowering.index(dim)));
  }

  /// Where the window of a position in the batch begins; it lies inside.
  SmallVector<Value> getCorner(ValueRange batch) const {
    SmallVector<Value> corner(static_cast<size_t>(map.bigRank),
                              lowering.index(0));
    for (auto [k, dim] : llvm::enumerate(map.indexMap)) {
      auto at = static_cast<size_t>(dim);
      Value limit = lowering.sub(lowering.getDim(operand, dim), sliceSizes[at]);
      if (getConstantIntValue(limit) == 0)
        continue;
      Value start = map.readIndex(lowering, batch, k);
      corner[at] = map.isUnsigned()
                       ? lowering.b.create<arith::MinUIOp>(start, limit)
                       : lowering.clamp(start, limit);
    }
    for (auto [big, index] :
         llvm::zip_equal(map.bigBatching, map.indexBatching))
      corner[static_cast<size_t>(big)] = batch[map.getBatchOfIndex(index)];
    return corner;
  }

  /// A slice that is empty in a dimension that the result leaves out has no
  /// element; the result's is zero then, as with XLA.
  Value getElement(ValueRange corner, ArrayRef<Value> indices) const {
    Value exists = lowering.makeTrue();
    for (ArrayRef<int64_t> dims :
         {ArrayRef(map.inserted), ArrayRef(map.bigBatching)})
      for (int64_t dim : dims)
        exists = lowering.both(
            exists, lowering.compare(Predicate::sgt,
                                     sliceSizes[static_cast<size_t>(dim)],
                                     lowering.index(0)));
    auto read = [&]() -> Value {
      SmallVector<Value> source(corner);
      for (auto [small, big] :
           llvm::zip_equal(map.windowDims, map.windowOfBig)) {
        Value &position = source[static_cast<size_t>(big)];
        position = lowering.add(position, indices[static_cast<size_t>(small)]);
      }
      return lowering.getElement(operand, source);
    };
    Type type = getValueType(getElementType(operand));
    std::optional<int64_t> known = getConstantIntValue(exists);
    if (known)
      return *known ? read() : lowering.zero(type);
    return lowering.choose(
        exists, type, [&]() -> SmallVector<Value> { return {read()}; },
        [&]() -> SmallVector<Value> { return {lowering.zero(type)}; })[0];
  }

  /// Dimensions of the result after the batch, which share a corner, are inner
  /// loops.
  void emit() {
    Value buffer = lowering.createResult(result);
    SmallVector<Value> sizes = lowering.getShape(result);
    auto numOuter = static_cast<size_t>(
        map.batchDims.empty() ? 0 : map.batchDims.back() + 1);
    ArrayRef<Value> all(sizes);
    lowering.forEach(all.take_front(numOuter), [&](ValueRange outer) {
      SmallVector<Value> position(outer);
      SmallVector<Value> corner = getCorner(pick(position, map.batchDims));
      lowering.forEach(all.drop_front(numOuter), [&](ValueRange inner) {
        SmallVector<Value> indices(position);
        llvm::append_range(indices, inner);
        lowering.store(getElement(corner, indices), getElementType(result),
                       buffer, indices);
      });
    });
  }

  const WindowMap &getMap() const { return map; }

private:
  static WindowMap makeMap(Operation *op) {
    auto numbers = op->getAttrOfType<stablehlo::GatherDimensionNumbersAttr>(
        "dimension_numbers");
    return {Dims(numbers.getOffsetDims()),
            numbers.getCollapsedSliceDims(),
            Dims(numbers.getOperandBatchingDims()),
            Dims(numbers.getStartIndicesBatchingDims()),
            Dims(numbers.getStartIndexMap()),
            numbers.getIndexVectorDim(),
            op->getOperand(0),
            op->getOperand(1),
            getRank(op->getResult(0))};
  }

  Value operand, result;
  Lowering &lowering;
  WindowMap map;
  SmallVector<Value> sliceSizes; ///< For each dimension of the operand.
};
} // namespace

Value alula::kernel::generateGather(OpResult result, ValueRange indices,
                                    Lowering &lowering) {
  Gather gather(result.getOwner(), lowering);
  SmallVector<Value> position(indices);
  return gather.getElement(
      gather.getCorner(pick(position, gather.getMap().batchDims)), position);
}

void alula::kernel::emitGather(Operation *op, Lowering &lowering) {
  Gather(op, lowering).emit();
}

//===----------------------------------------------------------------------===//
// scatter
//===----------------------------------------------------------------------===//

namespace {
/// Updates are applied in the order of their indices, as far as two of them can
/// meet: those of different batching positions, or of different places in a
/// dimension where all windows are whole, can't.
class ScatterEmitter {
public:
  ScatterEmitter(stablehlo::ScatterOp scatter, Lowering &lowering)
      : scatter(scatter), lowering(lowering), map(makeMap(scatter)),
        sizes(lowering.getShape(scatter.getUpdates()[0])) {
    for (int64_t dim : map.batchDims)
      (isBatching(dim) ? outer : ordered).push_back(dim);
    for (auto [small, big] : llvm::zip_equal(map.windowDims, map.windowOfBig)) {
      bool isFirst = ordered.empty() || small < ordered.front();
      bool isFree = !llvm::is_contained(map.indexMap, big);
      (isFirst && isFree ? outer : inner).push_back(small);
    }
    llvm::sort(outer);
  }

  void emit() {
    for (unsigned k = 0; k < scatter.getInputs().size(); ++k)
      buffers.push_back(createBuffer(k));
    SmallVector<Value> position(sizes.size());
    auto place = [&](ArrayRef<int64_t> dims, ValueRange values) {
      for (auto [dim, value] : llvm::zip_equal(dims, values))
        position[static_cast<size_t>(dim)] = value;
    };
    lowering.forEach(pick(sizes, outer), [&](ValueRange outerIndices) {
      place(outer, outerIndices);
      if (scatter.getUniqueIndices())
        return lowering.forEach(pick(sizes, ordered), [&](ValueRange indices) {
          place(ordered, indices);
          emitWindow(position);
        });
      lowering.fold(pick(sizes, ordered), {},
                    [&](ValueRange indices, ValueRange) -> SmallVector<Value> {
                      place(ordered, indices);
                      emitWindow(position);
                      return {};
                    });
    });
  }

private:
  static WindowMap makeMap(stablehlo::ScatterOp op) {
    auto numbers = op.getScatterDimensionNumbers();
    return {Dims(numbers.getUpdateWindowDims()),
            numbers.getInsertedWindowDims(),
            Dims(numbers.getInputBatchingDims()),
            Dims(numbers.getScatterIndicesBatchingDims()),
            Dims(numbers.getScatterDimsToOperandDims()),
            numbers.getIndexVectorDim(),
            op.getInputs()[0],
            op.getScatterIndices(),
            getRank(op.getUpdates()[0])};
  }

  bool isBatching(int64_t small) const {
    return llvm::any_of(map.indexBatching, [&](int64_t dim) {
      return map.batchDims[map.getBatchOfIndex(dim)] == small;
    });
  }

  /// A region may work on wider elements than the inputs have.
  Value createBuffer(unsigned k) {
    auto result = cast<OpResult>(scatter.getResults()[k]);
    Value input = scatter.getInputs()[k];
    Type from = getElementType(input), to = getElementType(result);
    if (from == to)
      return lowering.createUpdated(result, input);
    Value buffer = lowering.createResult(result);
    lowering.forEach(lowering.getShape(input), [&](ValueRange indices) {
      Value value = lowering.getElement(input, indices);
      lowering.store(convertScalar(lowering, scatter, value, from, to), to,
                     buffer, indices);
    });
    return buffer;
  }

  /// One window of the updates. One that is partly outside of the inputs is
  /// left out as a whole: the specification has it by element, XLA does not,
  /// and JAX's gradients of gathers count on what XLA does.
  void emitWindow(ArrayRef<Value> position) {
    SmallVector<Value> batch = pick(position, map.batchDims);
    SmallVector<Value> corner(static_cast<size_t>(map.bigRank));
    for (auto [big, index] :
         llvm::zip_equal(map.bigBatching, map.indexBatching))
      corner[static_cast<size_t>(big)] = batch[map.getBatchOfIndex(index)];

    Value isInside = lowering.makeTrue();
    for (auto [k, dim] : llvm::enumerate(map.indexMap)) {
      Value start = map.readIndex(lowering, batch, k);
      corner[static_cast<size_t>(dim)] = start;
      isInside = lowering.both(isInside, isWindowInside(start, dim));
    }
    // What no index and no window names stays at 0, which must exist.
    for (int64_t dim : map.inserted)
      if (Value &start = corner[static_cast<size_t>(dim)]; !start) {
        start = lowering.index(0);
        isInside = lowering.both(isInside, isWindowInside(start, dim));
      }
    lowering.choose(
        isInside, {},
        [&]() -> SmallVector<Value> {
          lowering.forEach(pick(sizes, inner), [&](ValueRange indices) {
            SmallVector<Value> update(position);
            for (auto [small, index] : llvm::zip_equal(inner, indices))
              update[static_cast<size_t>(small)] = index;
            emitUpdate(corner, update);
          });
          return {};
        },
        []() -> SmallVector<Value> { return {}; });
  }

  Value isWindowInside(Value start, int64_t dim) {
    Value size = lowering.getDim(scatter.getInputs()[0], dim);
    const auto *window = llvm::find(map.windowOfBig, dim);
    if (window == map.windowOfBig.end())
      return lowering.compare(Predicate::ult, start, size);
    auto number = window - map.windowOfBig.begin();
    auto small =
        static_cast<size_t>(map.windowDims[static_cast<size_t>(number)]);
    if (getConstantIntValue(sizes[small]) == 1)
      return lowering.compare(Predicate::ult, start, size);
    // Below zero where a window of a dynamic size doesn't fit at all.
    Value limit = lowering.sub(size, sizes[small]);
    return lowering.both(
        lowering.compare(Predicate::sge, start, lowering.index(0)),
        lowering.compare(Predicate::sle, start, limit));
  }

  void emitUpdate(ArrayRef<Value> corner, ArrayRef<Value> update) {
    SmallVector<Value> target(corner);
    for (auto [small, big] : llvm::zip_equal(map.windowDims, map.windowOfBig)) {
      Value &at = target[static_cast<size_t>(big)];
      Value offset = update[static_cast<size_t>(small)];
      at = at ? lowering.add(at, offset) : offset;
    }
    Block &body = scatter.getUpdateComputation().front();
    SmallVector<Value> arguments;
    for (auto [result, buffer] : llvm::zip_equal(scatter.getResults(), buffers))
      arguments.push_back(
          lowering.load(buffer, target, getElementType(result)));
    for (Value updates : scatter.getUpdates()) {
      Type to = getElementType(
          body.getArgument(static_cast<unsigned>(arguments.size())));
      arguments.push_back(convert(lowering.getElement(updates, update),
                                  getElementType(updates), to));
    }
    SmallVector<Value> next = lowering.call(body, arguments);
    for (auto [result, buffer, value] :
         llvm::zip_equal(scatter.getResults(), buffers, next))
      lowering.store(value, getElementType(result), buffer, target);
  }

  Value convert(Value value, Type from, Type to) {
    return from == to ? value
                      : convertScalar(lowering, scatter, value, from, to);
  }

  stablehlo::ScatterOp scatter;
  Lowering &lowering;
  WindowMap map;
  SmallVector<Value> sizes;                   ///< Of the updates.
  SmallVector<Value> buffers;                 ///< Of the results.
  SmallVector<int64_t> outer, ordered, inner; ///< Of the updates.
};
} // namespace

void alula::kernel::emitScatter(Operation *op, Lowering &lowering) {
  ScatterEmitter(cast<stablehlo::ScatterOp>(op), lowering).emit();
}
