// Ways to compute a sort, a scatter or a window.

#include "compiler/kernel/plan/ways.h"

#include "compiler/kernel/element/window_axis.h"
#include "compiler/kernel/plan/plan.h"
#include "compiler/kernel/plan/sort_order.h"
#include "dialect/dispatch/machine.h"

using namespace mlir;
using namespace alula::kernel;
using alula::plan::Way;

namespace {
/// Insertion is faster up to here, digits from here on.
constexpr int64_t maxInsertion = 16, minDigits = 64;

bool hasThreads(Operation *op) {
  return alula::dispatch::getMachine(op).blockThreads > 1;
}

bool hasNeeded(stablehlo::SortOp sort) {
  return sort->hasAttr("dispatch.needed");
}

Way chooseSort(stablehlo::SortOp sort) {
  if (hasNeeded(sort))
    return Way::First;
  auto type = cast<RankedTensorType>(sort.getInputs()[0].getType());
  int64_t size =
      type.getRank()
          ? type.getDimSize(static_cast<unsigned>(getSortedDim(sort)))
          : 1;
  if (ShapedType::isDynamic(size))
    return Way::Merge;
  if (size <= maxInsertion)
    return Way::Insertion;
  // Digits are counted by one thread for all.
  return size >= minDigits && maySortByDigits(sort) && !hasThreads(sort)
             ? Way::Digits
             : Way::Merge;
}

Way chooseWindow(stablehlo::ReduceWindowOp op) {
  if (findScan(op))
    return Way::Scan;
  return countPlainAxes(op) && !hasThreads(op) ? Way::Memory : Way::Registers;
}
} // namespace

Way alula::kernel::chooseWay(Operation *op) {
  if (auto sort = dyn_cast<stablehlo::SortOp>(op))
    return chooseSort(sort);
  if (auto scatter = dyn_cast<stablehlo::ScatterOp>(op))
    return scatter.getUniqueIndices() ? Way::Free : Way::Ordered;
  if (auto window = dyn_cast<stablehlo::ReduceWindowOp>(op))
    return chooseWindow(window);
  return Way::Unsaid;
}

Way alula::kernel::getWay(Operation *op) {
  plan::StageAttr stage = getStage(op);
  return stage && stage.getWay() != Way::Unsaid ? stage.getWay()
                                                : chooseWay(op);
}

StringRef alula::kernel::findWayProblem(Operation *op, Way way) {
  switch (way) {
  case Way::Unsaid:
  case Way::Insertion:
  case Way::Merge:
  case Way::Ordered:
    return "";
  case Way::First:
    return hasNeeded(cast<stablehlo::SortOp>(op))
               ? ""
               : "all of its elements are read";
  case Way::Digits:
    return maySortByDigits(cast<stablehlo::SortOp>(op))
               ? ""
               : "its rows are not of a known length, or not ordered by one "
                 "number of each element";
  case Way::Free:
    return cast<stablehlo::ScatterOp>(op).getUniqueIndices()
               ? ""
               : "two updates may meet";
  case Way::Scan:
  case Way::Memory:
  case Way::Registers:
    break;
  case Way::Elements:
  case Way::Tiles:
  case Way::Blocks:
  case Way::Strips:
    llvm_unreachable("orders of maps are in fill_order.cpp");
  }
  auto window = dyn_cast<stablehlo::ReduceWindowOp>(op);
  if (!window)
    return "it has one way alone";
  if (way == Way::Scan && !findScan(window))
    return "its windows are not all that is before or after an element in one "
           "dimension";
  if (way == Way::Memory && !countPlainAxes(window))
    return "its last dimension has windows of several elements";
  return "";
}

std::optional<WindowScan>
alula::kernel::findScan(stablehlo::ReduceWindowOp op) {
  auto input = cast<RankedTensorType>(op.getInputs()[0].getType());
  std::optional<WindowScan> scan;
  for (auto [dim, axis] : llvm::enumerate(readWindow(op, input.getRank()))) {
    if (axis.isPlain())
      continue;
    bool isBefore = axis.low == axis.size - 1 && axis.high == 0;
    bool isAfter = axis.high == axis.size - 1 && axis.low == 0;
    if (scan || axis.stride != 1 || axis.baseDilation != 1 ||
        axis.windowDilation != 1 || !(isBefore || isAfter) ||
        input.getDimSize(static_cast<unsigned>(dim)) != axis.size)
      return {};
    scan = {dim, isAfter};
  }
  return scan;
}

size_t alula::kernel::countPlainAxes(stablehlo::ReduceWindowOp op) {
  auto result = cast<RankedTensorType>(op.getResults()[0].getType());
  SmallVector<WindowAxis> window = readWindow(op, result.getRank());
  size_t count = 0;
  while (count < window.size() && window[window.size() - 1 - count].isPlain())
    ++count;
  bool isOne = llvm::all_of(result.getShape().take_back(count),
                            [](int64_t size) { return size == 1; });
  return isOne ? 0 : count;
}
