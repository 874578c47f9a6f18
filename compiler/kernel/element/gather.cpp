#include "compiler/kernel/element/gather.h"

#include "compiler/kernel/element/generators.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace alula::kernel;
using Dims = WindowMap::Dims;

static int64_t getRank(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getRank();
}

SmallVector<Value> alula::kernel::pick(ArrayRef<Value> values,
                                       ArrayRef<int64_t> dims) {
  SmallVector<Value> picked;
  for (int64_t dim : dims)
    picked.push_back(values[static_cast<size_t>(dim)]);
  return picked;
}

WindowMap::WindowMap(Dims windowDims, ArrayRef<int64_t> inserted,
                     Dims bigBatching, Dims indexBatching, Dims indexMap,
                     int64_t indexVectorDim, Value big, Value indices,
                     int64_t smallRank)
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

WindowMap WindowMap::ofGather(Operation *op) {
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

WindowMap WindowMap::ofScatter(Operation *op) {
  auto scatter = cast<stablehlo::ScatterOp>(op);
  auto numbers = scatter.getScatterDimensionNumbers();
  return {Dims(numbers.getUpdateWindowDims()),
          numbers.getInsertedWindowDims(),
          Dims(numbers.getInputBatchingDims()),
          Dims(numbers.getScatterIndicesBatchingDims()),
          Dims(numbers.getScatterDimsToOperandDims()),
          numbers.getIndexVectorDim(),
          scatter.getInputs()[0],
          scatter.getScatterIndices(),
          getRank(scatter.getUpdates()[0])};
}

Value WindowMap::readIndex(Reader &reader, ValueRange batch, size_t k) const {
  SmallVector<Value> at(batch);
  if (indexVectorDim < getRank(indices))
    at.insert(at.begin() + indexVectorDim,
              reader.index(static_cast<int64_t>(k)));
  return reader.getIndexElement(indices, at);
}

bool WindowMap::isUnsigned() const {
  return getElementKind(getElementType(indices)) == ElementKind::Unsigned;
}

Gather::Gather(Operation *op, Reader &reader)
    : operand(op->getOperand(0)), reader(reader), map(WindowMap::ofGather(op)) {
  if (auto gather = dyn_cast<stablehlo::GatherOp>(op)) {
    for (int64_t size : gather.getSliceSizes())
      sliceSizes.push_back(reader.index(size));
    return;
  }
  Value sizes = op->getOperand(2);
  for (int64_t dim = 0; dim < map.bigRank; ++dim)
    sliceSizes.push_back(reader.getIndexElement(sizes, reader.index(dim)));
}

SmallVector<Value> Gather::getCorner(ValueRange batch) const {
  SmallVector<Value> corner(static_cast<size_t>(map.bigRank), reader.index(0));
  for (auto [k, dim] : llvm::enumerate(map.indexMap)) {
    auto at = static_cast<size_t>(dim);
    Value limit = reader.sub(reader.getDim(operand, dim), sliceSizes[at]);
    if (getConstantIntValue(limit) == 0)
      continue;
    Value start = map.readIndex(reader, batch, k);
    corner[at] = map.isUnsigned()
                     ? reader.b.create<arith::MinUIOp>(start, limit)
                     : reader.clamp(start, limit);
  }
  for (auto [big, index] : llvm::zip_equal(map.bigBatching, map.indexBatching))
    corner[static_cast<size_t>(big)] = batch[map.getBatchOfIndex(index)];
  return corner;
}

Value Gather::getElement(ValueRange corner, ArrayRef<Value> indices) const {
  Value exists = reader.makeTrue();
  for (ArrayRef<int64_t> dims :
       {ArrayRef(map.inserted), ArrayRef(map.bigBatching)})
    for (int64_t dim : dims)
      exists = reader.both(exists,
                           reader.compare(arith::CmpIPredicate::sgt,
                                          sliceSizes[static_cast<size_t>(dim)],
                                          reader.index(0)));
  auto read = [&]() -> Value {
    SmallVector<Value> source(corner);
    for (auto [small, big] : llvm::zip_equal(map.windowDims, map.windowOfBig)) {
      Value &position = source[static_cast<size_t>(big)];
      position = reader.add(position, indices[static_cast<size_t>(small)]);
    }
    return reader.getElement(operand, source);
  };
  Type type = getValueType(getElementType(operand));
  std::optional<int64_t> known = getConstantIntValue(exists);
  if (known)
    return *known ? read() : reader.zero(type);
  return reader.choose(
      exists, type, [&]() -> SmallVector<Value> { return {read()}; },
      [&]() -> SmallVector<Value> { return {reader.zero(type)}; })[0];
}

Value alula::kernel::generateGather(OpResult result, ValueRange indices,
                                    Reader &reader) {
  Gather gather(result.getOwner(), reader);
  SmallVector<Value> position(indices);
  return gather.getElement(
      gather.getCorner(pick(position, gather.getMap().batchDims)), position);
}
