// reduce: folds whole dimensions.
#include "reference/fold.h"
#include "reference/op_table.h"

using namespace mlir;

namespace alula::reference {
namespace {

LogicalResult evalReduce(OpCall &call) {
  size_t count = call.operands.size() / 2;
  if (count == 0)
    return call.error() << "needs at least one input";
  llvm::SmallVector<Tensor> inputs, initial;
  for (size_t k = 0; k < count; ++k) {
    inputs.push_back(call.tensor(k));
    initial.push_back(call.tensor(count + k));
    if (inputs[k].getDims() != inputs[0].getDims())
      return call.error() << "inputs must have one shape, they have "
                          << printDims(inputs[0].getDims()) << " and "
                          << printDims(inputs[k].getDims());
  }
  FailureOr<Fold> fold =
      Fold::prepare(call, call.op->getRegion(0), initial);
  if (failed(fold))
    return failure();
  llvm::ArrayRef<int64_t> dims = inputs[0].getDims();
  Dims strides = getStrides(dims);
  llvm::SmallVector<bool> reduced(dims.size(), false);
  for (int64_t d : call.getInts("dimensions")) {
    if (d < 0 || d >= int64_t(dims.size()))
      return call.error() << "dimensions must be below the rank "
                          << dims.size() << ", one is " << d;
    reduced[size_t(d)] = true;
  }
  Dims kept, keptStrides, folded, foldedStrides;
  for (size_t d = 0; d < dims.size(); ++d) {
    (reduced[d] ? folded : kept).push_back(dims[d]);
    (reduced[d] ? foldedStrides : keptStrides).push_back(strides[d]);
  }
  if (failed(call.charge(inputs[0].getSize())))
    return failure();
  llvm::SmallVector<Tensor> results;
  for (size_t k = 0; k < count; ++k) {
    FailureOr<Tensor> result = call.newTensor(fold->getResultType(k), kept);
    if (failed(result))
      return failure();
    results.push_back(std::move(*result));
  }
  std::vector<int64_t> starts(laneCount), offsets(laneCount);
  BoxWalk outer(kept);
  for (int64_t at = 0; at < results[0].getSize();) {
    size_t n = 0;
    for (; n < laneCount && !outer.isDone(); ++n, outer.next())
      starts[n] = dotIndex(outer.getIndex(), keptStrides);
    fold->start(n);
    for (BoxWalk inner(folded); !inner.isDone(); inner.next()) {
      int64_t offset = dotIndex(inner.getIndex(), foldedStrides);
      for (size_t lane = 0; lane < n; ++lane)
        offsets[lane] = starts[lane] + offset;
      for (size_t k = 0; k < count; ++k)
        loadAt(inputs[k].getKind(), inputs[k].getData(), offsets.data(),
               fold->getNext(k), n);
      if (failed(fold->step(n)))
        return failure();
    }
    for (size_t k = 0; k < count; ++k)
      store(results[k].getKind(), fold->getAccumulator(k),
            results[k].mutableAt(at), n);
    at += int64_t(n);
  }
  for (Tensor &result : results)
    call.results.push_back(std::move(result));
  return success();
}

} // namespace

void addReduceOps(OpTable &table) {
  table.add("stablehlo.reduce", evalReduce);
}

} // namespace alula::reference
