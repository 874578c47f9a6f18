// reduce_window and select_and_scatter.
#include "reference/fold.h"
#include "reference/op_table.h"
#include "reference/window.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace alula::reference {

std::optional<int64_t> WindowDim::getCount(int64_t extent) const {
  if (size < 1 || stride < 1 || baseDilation < 1 || windowDilation < 1)
    return std::nullopt;
  int64_t base = 0, window;
  if (extent > 0 && (llvm::MulOverflow(extent - 1, baseDilation, base) ||
                     llvm::AddOverflow(base, int64_t(1), base)))
    return std::nullopt;
  if (llvm::AddOverflow(base, low, base) ||
      llvm::AddOverflow(base, high, base) ||
      llvm::MulOverflow(size - 1, windowDilation, window))
    return std::nullopt;
  if (base <= window)
    return 0;
  return (base - window - 1) / stride + 1;
}

namespace {

FailureOr<llvm::SmallVector<WindowDim>>
getWindow(OpCall &call, llvm::ArrayRef<int64_t> dims, Dims &places) {
  size_t rank = dims.size();
  auto sizes = call.getInts("window_dimensions", rank, 1);
  auto strides = call.getInts("window_strides", rank, 1);
  auto base = call.getInts("base_dilations", rank, 1);
  auto dilations = call.getInts("window_dilations", rank, 1);
  auto padding = call.getPairs("padding", rank);
  if (sizes.size() != rank || strides.size() != rank || base.size() != rank ||
      dilations.size() != rank || padding.size() != rank)
    return call.error() << "the window must have " << rank << " dimensions";
  llvm::SmallVector<WindowDim> window;
  for (size_t d = 0; d < rank; ++d) {
    window.push_back({sizes[d], strides[d], padding[d].first,
                      padding[d].second, base[d], dilations[d]});
    std::optional<int64_t> count = window[d].getCount(dims[d]);
    if (!count)
      return call.error() << "the window makes no sense in dimension " << d;
    places.push_back(*count);
  }
  return window;
}

/// Element offset of the base under a window position; -1 outside.
int64_t getOffset(llvm::ArrayRef<WindowDim> window,
                  llvm::ArrayRef<int64_t> dims,
                  llvm::ArrayRef<int64_t> strides,
                  llvm::ArrayRef<int64_t> place,
                  llvm::ArrayRef<int64_t> position) {
  int64_t offset = 0;
  for (size_t d = 0; d < dims.size(); ++d) {
    int64_t base = window[d].getBase(place[d], position[d], dims[d]);
    if (base < 0)
      return -1;
    offset += base * strides[d];
  }
  return offset;
}

Dims getSizes(llvm::ArrayRef<WindowDim> window) {
  Dims sizes;
  for (const WindowDim &dim : window)
    sizes.push_back(dim.size);
  return sizes;
}

LogicalResult evalReduceWindow(OpCall &call) {
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
  llvm::ArrayRef<int64_t> dims = inputs[0].getDims();
  Dims places, strides = getStrides(dims);
  FailureOr<llvm::SmallVector<WindowDim>> window =
      getWindow(call, dims, places);
  FailureOr<Fold> fold =
      failed(window) ? FailureOr<Fold>(failure())
                     : Fold::prepare(call, call.op->getRegion(0), initial);
  if (failed(fold))
    return failure();
  llvm::SmallVector<Tensor> results;
  for (size_t k = 0; k < count; ++k) {
    FailureOr<Tensor> result = call.newTensor(fold->getResultType(k), places);
    if (failed(result))
      return failure();
    results.push_back(std::move(*result));
  }
  Dims sizes = getSizes(*window);
  if (failed(call.charge(results[0].getSize(),
                         getNumElements(sizes).value_or(INT64_MAX))))
    return failure();
  std::vector<Dims> lanes(laneCount);
  BoxWalk outer(places);
  for (int64_t at = 0; at < results[0].getSize();) {
    size_t n = 0;
    for (; n < laneCount && !outer.isDone(); ++n, outer.next())
      lanes[n].assign(outer.getIndex().begin(), outer.getIndex().end());
    fold->start(n);
    for (BoxWalk inner(sizes); !inner.isDone(); inner.next()) {
      for (size_t lane = 0; lane < n; ++lane) {
        int64_t offset = getOffset(*window, dims, strides, lanes[lane],
                                   inner.getIndex());
        for (size_t k = 0; k < count; ++k) {
          Cell &next = fold->getNext(k)[lane];
          if (offset < 0)
            next = fold->getInitial(k);
          else
            load(inputs[k].getKind(), inputs[k].at(offset), &next, 1);
        }
      }
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

/// For each place of the window the operand element that `select` keeps; -1
/// for a window that covers none.
FailureOr<std::vector<int64_t>>
selectElements(OpCall &call, llvm::ArrayRef<WindowDim> window,
               llvm::ArrayRef<int64_t> places) {
  const Tensor &operand = call.tensor(0);
  FailureOr<ScalarBody> select =
      ScalarBody::prepare(call, call.op->getRegion(0));
  if (failed(select))
    return failure();
  if (select->getNumArguments() != 2 || select->getNumResults() != 1)
    return call.error() << "select must take 2 values and give 1";
  llvm::ArrayRef<int64_t> dims = operand.getDims();
  Dims strides = getStrides(dims), sizes = getSizes(window);
  std::vector<int64_t> chosen;
  std::vector<Cell> kept(laneCount), next(laneCount), answer(laneCount);
  std::vector<Dims> lanes(laneCount);
  std::vector<int64_t> best(laneCount), candidate(laneCount);
  BoxWalk outer(places);
  while (!outer.isDone()) {
    size_t n = 0;
    for (; n < laneCount && !outer.isDone(); ++n, outer.next())
      lanes[n].assign(outer.getIndex().begin(), outer.getIndex().end());
    std::fill_n(best.begin(), n, -1);
    for (BoxWalk inner(sizes); !inner.isDone(); inner.next()) {
      for (size_t lane = 0; lane < n; ++lane) {
        candidate[lane] = getOffset(window, dims, strides, lanes[lane],
                                    inner.getIndex());
        if (candidate[lane] < 0)
          continue;
        next[lane] = operand.getCell(candidate[lane]);
        if (best[lane] < 0)
          kept[lane] = next[lane];
      }
      if (failed(select->run(n, {kept.data(), next.data()},
                             {answer.data()})))
        return failure();
      for (size_t lane = 0; lane < n; ++lane) {
        if (candidate[lane] < 0 || (best[lane] >= 0 && answer[lane].u))
          continue;
        best[lane] = candidate[lane];
        kept[lane] = next[lane];
      }
    }
    chosen.insert(chosen.end(), best.begin(), best.begin() + int64_t(n));
  }
  return chosen;
}

LogicalResult evalSelectAndScatter(OpCall &call) {
  const Tensor &operand = call.tensor(0), &source = call.tensor(1),
               &initial = call.tensor(2);
  Dims places;
  FailureOr<llvm::SmallVector<WindowDim>> window =
      getWindow(call, operand.getDims(), places);
  if (failed(window))
    return failure();
  if (source.getDims() != llvm::ArrayRef<int64_t>(places))
    return call.error() << "source must have the shape "
                        << printDims(places) << " of the window's places, it "
                        << "has " << printDims(source.getDims());
  if (failed(call.charge(
          source.getSize(),
          getNumElements(getSizes(*window)).value_or(INT64_MAX))))
    return failure();
  FailureOr<std::vector<int64_t>> chosen =
      selectElements(call, *window, places);
  FailureOr<ScalarBody> scatter =
      failed(chosen) ? FailureOr<ScalarBody>(failure())
                     : ScalarBody::prepare(call, call.op->getRegion(1));
  if (failed(scatter))
    return failure();
  if (scatter->getNumArguments() != 2 || scatter->getNumResults() != 1)
    return call.error() << "scatter must take 2 values and give 1";
  FailureOr<Tensor> result =
      call.newTensor(scatter->getResultType(0), operand.getDims());
  if (failed(result))
    return failure();
  if (call.getWide())
    scatter->keepWide();
  std::vector<Cell> sums(size_t(operand.getSize()), initial.getCell(0));
  for (size_t k = 0; k < chosen->size(); ++k) {
    int64_t target = (*chosen)[k];
    if (target < 0)
      continue;
    Cell value = source.getCell(int64_t(k));
    Cell &sum = sums[size_t(target)];
    if (failed(scatter->run(1, {&sum, &value}, {&sum})))
      return failure();
  }
  store(result->getKind(), sums.data(), result->getMutableData(),
        sums.size());
  return call.give(*result);
}

} // namespace

void addReduceWindowOps(OpTable &table) {
  table.add("stablehlo.reduce_window", evalReduceWindow);
  table.add("stablehlo.select_and_scatter", evalSelectAndScatter);
}

} // namespace alula::reference
