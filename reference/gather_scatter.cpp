// gather, dynamic_gather and scatter.
#include "reference/op_table.h"
#include "reference/scalar_body.h"

#include "dialect/stablehlo/ops.h"

#include <cstring>

using namespace mlir;

namespace alula::reference {
namespace {

/// What gather and scatter share: a batch of index vectors, each the corner of
/// a window into a big tensor.
struct WindowMap {
  llvm::SmallVector<int64_t> windowDims; ///< Of the small tensor.
  llvm::SmallVector<int64_t> dropped; ///< Dims of the big one not in windows.
  llvm::SmallVector<int64_t> bigBatching, indexBatching;
  llvm::SmallVector<int64_t> indexMap;
  int64_t indexVectorDim = 0;

  // Filled by `resolve`.
  llvm::SmallVector<int64_t> batchDims;   ///< Of the small tensor.
  llvm::SmallVector<int64_t> windowOfBig; ///< Big dim of each window dim.
  Dims batchShape;
};

LogicalResult resolve(OpCall &call, WindowMap &map, int64_t bigRank,
                      int64_t smallRank, const Tensor &indices) {
  auto inRange = [](llvm::ArrayRef<int64_t> list, int64_t rank) {
    return llvm::all_of(list, [&](int64_t d) { return d >= 0 && d < rank; });
  };
  int64_t indexRank = indices.getRank();
  for (int64_t d = 0; d < indexRank; ++d)
    if (d != map.indexVectorDim)
      map.batchShape.push_back(indices.getDim(size_t(d)));
  for (int64_t d = 0; d < smallRank; ++d)
    if (!llvm::is_contained(map.windowDims, d))
      map.batchDims.push_back(d);
  for (int64_t d = 0; d < bigRank; ++d)
    if (!llvm::is_contained(map.dropped, d) &&
        !llvm::is_contained(map.bigBatching, d))
      map.windowOfBig.push_back(d);
  int64_t vector = map.indexVectorDim < indexRank
                       ? indices.getDim(size_t(map.indexVectorDim))
                       : 1;
  if (map.indexVectorDim < 0 || map.indexVectorDim > indexRank ||
      !inRange(map.windowDims, smallRank) || !inRange(map.dropped, bigRank) ||
      !inRange(map.bigBatching, bigRank) ||
      !inRange(map.indexBatching, indexRank) ||
      !inRange(map.indexMap, bigRank) ||
      llvm::is_contained(map.indexBatching, map.indexVectorDim) ||
      map.bigBatching.size() != map.indexBatching.size() ||
      map.windowOfBig.size() != map.windowDims.size() ||
      map.batchDims.size() != map.batchShape.size() ||
      vector != int64_t(map.indexMap.size()))
    return call.error() << "dimension numbers do not fit ranks " << bigRank
                        << ", " << smallRank << " and indices "
                        << printDims(indices.getDims());
  return success();
}

/// Reads the index vector of a batch position into corners of the big tensor;
/// batching dimensions get their own position.
class CornerReader {
public:
  CornerReader(const WindowMap &map, const Tensor &indices)
      : map(map), indices(indices), strides(getStrides(indices.getDims())) {}

  void read(llvm::ArrayRef<int64_t> batch, Dims &start, Dims &batching) const {
    int64_t at = 0;
    size_t k = 0;
    for (int64_t d = 0; d < indices.getRank(); ++d)
      if (d != map.indexVectorDim)
        at += batch[k++] * strides[size_t(d)];
    std::fill(start.begin(), start.end(), 0);
    std::fill(batching.begin(), batching.end(), 0);
    int64_t step = map.indexVectorDim < indices.getRank()
                       ? strides[size_t(map.indexVectorDim)]
                       : 0;
    for (auto [j, d] : llvm::enumerate(map.indexMap))
      start[size_t(d)] = indices.getInteger(at + int64_t(j) * step);
    for (auto [big, index] : llvm::zip(map.bigBatching, map.indexBatching))
      batching[size_t(big)] =
          batch[size_t(index - (index < map.indexVectorDim ? 0 : 1))];
  }

private:
  const WindowMap &map;
  const Tensor &indices;
  Dims strides;
};

LogicalResult gather(OpCall &call, WindowMap map,
                     llvm::ArrayRef<int64_t> sizes) {
  const Tensor &operand = call.tensor(0), &indices = call.tensor(1);
  size_t rank = operand.getDims().size();
  int64_t smallRank = call.getShapedType(0).getRank();
  if (failed(resolve(call, map, int64_t(rank), smallRank, indices)))
    return failure();
  if (sizes.size() != rank)
    return call.error() << "slice_sizes must have " << rank
                        << " numbers, it has " << sizes.size();
  for (size_t d = 0; d < rank; ++d)
    if (sizes[d] < 0 || sizes[d] > operand.getDim(d))
      return call.error() << "slice size " << sizes[d]
                          << " does not fit dimension " << d << " of size "
                          << operand.getDim(d);
  Dims dims(size_t(smallRank), 0);
  for (auto [d, size] : llvm::zip(map.batchDims, map.batchShape))
    dims[size_t(d)] = size;
  Dims box, from, to, operandStrides = getStrides(operand.getDims());
  for (auto [d, big] : llvm::zip(map.windowDims, map.windowOfBig)) {
    dims[size_t(d)] = sizes[size_t(big)];
    box.push_back(sizes[size_t(big)]);
    from.push_back(operandStrides[size_t(big)]);
  }
  FailureOr<Tensor> result = call.newTensor(call.getElementType(0), dims);
  if (failed(result) || failed(call.charge(result->getSize())))
    return failure();
  Dims resultStrides = getStrides(dims), batchStrides;
  for (int64_t d : map.windowDims)
    to.push_back(resultStrides[size_t(d)]);
  for (int64_t d : map.batchDims)
    batchStrides.push_back(resultStrides[size_t(d)]);
  // A slice that is empty in a dimension that the result leaves out has no
  // element; the result's are zero then, as with XLA.
  bool isEmpty = llvm::is_contained(sizes, 0);
  if (isEmpty)
    std::memset(result->mutableAt(0), 0,
                size_t(result->getSize()) * result->getElementBytes());
  if (result->getSize() == 0 || isEmpty)
    return call.give(*result);
  CornerReader reader(map, indices);
  Dims start(rank, 0), batching(rank, 0);
  for (BoxWalk batch(map.batchShape); !batch.isDone(); batch.next()) {
    reader.read(batch.getIndex(), start, batching);
    int64_t source = 0;
    for (size_t d = 0; d < rank; ++d) {
      int64_t limit = operand.getDim(d) - sizes[d];
      source += (std::clamp<int64_t>(start[d], 0, limit) + batching[d]) *
                operandStrides[d];
    }
    if (source < 0 || source >= operand.getSize())
      return call.error() << "a batching index leaves the operand";
    copyBox(result->getElementBytes(), box, operand.at(source), from,
            result->mutableAt(dotIndex(batch.getIndex(), batchStrides)), to);
  }
  return call.give(*result);
}

WindowMap getMap(stablehlo::GatherDimensionNumbersAttr numbers) {
  WindowMap map;
  map.windowDims = llvm::to_vector(numbers.getOffsetDims());
  map.dropped = llvm::to_vector(numbers.getCollapsedSliceDims());
  map.bigBatching = llvm::to_vector(numbers.getOperandBatchingDims());
  map.indexBatching = llvm::to_vector(numbers.getStartIndicesBatchingDims());
  map.indexMap = llvm::to_vector(numbers.getStartIndexMap());
  map.indexVectorDim = numbers.getIndexVectorDim();
  return map;
}

LogicalResult evalGather(OpCall &call) {
  auto op = cast<stablehlo::GatherOp>(call.op);
  return gather(call, getMap(op.getDimensionNumbers()),
                call.getInts("slice_sizes"));
}

LogicalResult evalDynamicGather(OpCall &call) {
  auto op = cast<stablehlo::DynamicGatherOp>(call.op);
  return gather(call, getMap(op.getDimensionNumbers()),
                call.tensor(2).getIntegers());
}

/// Torch's index_select: result[b, .., k, ..] = operand[b, .., index[b, k], ..]
LogicalResult evalTorchIndexSelect(OpCall &call) {
  const Tensor &operand = call.tensor(0), &index = call.tensor(1);
  int64_t dim = call.getInt("dim"), batch = call.getInt("batch_dims");
  int64_t rank = operand.getRank();
  if (dim < 0)
    dim += rank;
  if (batch < 0)
    batch += index.getRank();
  if (dim < 0 || dim >= rank || batch < 0 || batch > dim ||
      batch > index.getRank())
    return call.error() << "dim " << dim << " and batch_dims " << batch
                        << " do not fit rank " << rank;
  Dims dims(operand.getDims().take_front(size_t(dim)));
  dims.append(index.getDims().begin() + batch, index.getDims().end());
  dims.append(operand.getDims().begin() + dim + 1, operand.getDims().end());
  FailureOr<Tensor> result = call.newTensor(call.getElementType(0), dims);
  if (failed(result) || failed(call.charge(result->getSize())))
    return failure();
  Dims from = getStrides(operand.getDims()), by = getStrides(index.getDims());
  int64_t selected = index.getRank() - batch, at = 0;
  for (BoxWalk walk(dims); !walk.isDone(); walk.next(), ++at) {
    int64_t where = 0, source = 0;
    for (int64_t d = 0; d < batch; ++d)
      where += walk[size_t(d)] * by[size_t(d)];
    for (int64_t k = 0; k < selected; ++k)
      where += walk[size_t(dim + k)] * by[size_t(batch + k)];
    for (int64_t d = 0; d < rank; ++d)
      if (d != dim)
        source +=
            walk[size_t(d < dim ? d : d + selected - 1)] * from[size_t(d)];
    source += std::clamp<int64_t>(index.getInteger(where), 0,
                                  operand.getDim(size_t(dim)) - 1) *
              from[size_t(dim)];
    std::memcpy(result->mutableAt(at), operand.at(source),
                result->getElementBytes());
  }
  return call.give(*result);
}

LogicalResult evalScatter(OpCall &call) {
  auto op = cast<stablehlo::ScatterOp>(call.op);
  size_t count = call.operands.size() / 2;
  if (count == 0 || call.operands.size() != 2 * count + 1)
    return call.error() << "needs as many updates as inputs";
  const Tensor &input = call.tensor(0), &indices = call.tensor(count),
               &updates = call.tensor(count + 1);
  auto numbers = op.getScatterDimensionNumbers();
  WindowMap map;
  map.windowDims = llvm::to_vector(numbers.getUpdateWindowDims());
  map.dropped = llvm::to_vector(numbers.getInsertedWindowDims());
  map.bigBatching = llvm::to_vector(numbers.getInputBatchingDims());
  map.indexBatching = llvm::to_vector(numbers.getScatterIndicesBatchingDims());
  map.indexMap = llvm::to_vector(numbers.getScatterDimsToOperandDims());
  map.indexVectorDim = numbers.getIndexVectorDim();
  size_t rank = input.getDims().size();
  if (failed(resolve(call, map, int64_t(rank), updates.getRank(), indices)))
    return failure();
  for (auto [d, size] : llvm::zip(map.batchDims, map.batchShape))
    if (updates.getDim(size_t(d)) != size)
      return call.error() << "updates " << printDims(updates.getDims())
                          << " do not fit indices "
                          << printDims(indices.getDims());
  for (size_t k = 1; k < count; ++k)
    if (call.tensor(k).getDims() != input.getDims() ||
        call.tensor(count + 1 + k).getDims() != updates.getDims())
      return call.error() << "inputs must have one shape and updates another";
  FailureOr<ScalarBody> body = ScalarBody::prepare(call, call.op->getRegion(0));
  if (failed(body))
    return failure();
  if (body->getNumArguments() != 2 * count || body->getNumResults() != count)
    return call.error() << "the region must take " << 2 * count
                        << " values and give " << count;
  if (failed(call.charge(updates.getSize())) ||
      failed(call.charge(input.getSize())))
    return failure();
  std::vector<Tensor> results;
  for (size_t k = 0; k < count; ++k) {
    FailureOr<Tensor> result =
        call.newTensor(body->getResultType(k), input.getDims());
    if (failed(result))
      return failure();
    std::vector<Cell> cells(laneCount);
    if (result->getKind() == call.tensor(k).getKind()) {
      std::memcpy(result->getMutableData(), call.tensor(k).getData(),
                  result->getByteSize());
    } else {
      // A region that widens: integers and floats keep their value in cells.
      for (int64_t at = 0; at < result->getSize(); at += laneCount) {
        size_t n = size_t(std::min<int64_t>(laneCount, result->getSize() - at));
        load(call.tensor(k).getKind(), call.tensor(k).at(at), cells.data(), n);
        store(result->getKind(), cells.data(), result->mutableAt(at), n);
      }
    }
    results.push_back(std::move(*result));
  }
  Dims strides = getStrides(input.getDims()), box, from, start(rank, 0),
       batching(rank, 0);
  Dims updateStrides = getStrides(updates.getDims()), batchStrides;
  for (int64_t d : map.windowDims) {
    box.push_back(updates.getDim(size_t(d)));
    from.push_back(updateStrides[size_t(d)]);
  }
  for (int64_t d : map.batchDims)
    batchStrides.push_back(updateStrides[size_t(d)]);
  std::vector<Cell> old(count), next(count);
  llvm::SmallVector<const Cell *> arguments;
  llvm::SmallVector<Cell *> outputs;
  for (size_t k = 0; k < count; ++k) {
    arguments.push_back(&old[k]);
    outputs.push_back(&old[k]);
  }
  for (size_t k = 0; k < count; ++k)
    arguments.push_back(&next[k]);
  CornerReader reader(map, indices);
  Dims windowSizes(rank, 1), windowStrides;
  for (auto [k, d] : llvm::enumerate(map.windowOfBig)) {
    windowSizes[size_t(d)] = box[k];
    windowStrides.push_back(strides[size_t(d)]);
  }
  // In row-major order of the updates, for regions that do not commute.
  for (BoxWalk batch(map.batchShape); !batch.isDone(); batch.next()) {
    reader.read(batch.getIndex(), start, batching);
    int64_t updateAt = dotIndex(batch.getIndex(), batchStrides);
    // A window is inside as a whole, or left out as a whole.
    bool inside = true;
    int64_t corner = 0;
    for (size_t d = 0; d < rank && inside; ++d) {
      int64_t limit = input.getDim(d) - windowSizes[d] - batching[d];
      inside = start[d] >= 0 && start[d] <= limit;
      if (inside)
        corner += (batching[d] + start[d]) * strides[d];
    }
    if (!inside)
      continue;
    for (BoxWalk window(box); !window.isDone(); window.next()) {
      int64_t at = corner + dotIndex(window.getIndex(), windowStrides);
      int64_t source = updateAt + dotIndex(window.getIndex(), from);
      for (size_t k = 0; k < count; ++k) {
        old[k] = results[k].getCell(at);
        next[k] = call.tensor(count + 1 + k).getCell(source);
      }
      if (failed(body->run(1, arguments, outputs)))
        return failure();
      for (size_t k = 0; k < count; ++k)
        results[k].setCell(at, old[k]);
    }
  }
  for (Tensor &result : results)
    call.results.push_back(std::move(result));
  return success();
}

} // namespace

void addGatherScatterOps(OpTable &table) {
  table.add("stablehlo.gather", evalGather);
  table.add("stablehlo.dynamic_gather", evalDynamicGather);
  table.add("stablehlo.torch_index_select", evalTorchIndexSelect);
  table.add("stablehlo.scatter", evalScatter);
}

} // namespace alula::reference
