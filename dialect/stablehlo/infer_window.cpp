// The window arithmetic that reduce_window, select_and_scatter and convolution
// share.

#include "dialect/stablehlo/infer_window.h"

#include "dialect/stablehlo/shape_math.h"

using namespace mlir;
using namespace mlir::stablehlo;

namespace {
LogicalResult verifyPositive(const RuleSite &site, NamedDims list) {
  for (auto [index, value] : llvm::enumerate(list.dims))
    if (value <= 0)
      return site.fail(list.name, " must be positive: entry ", index, " is ",
                       value);
  return success();
}

/// Entries for `rank` dimensions, ones if there is no list or an empty one.
FailureOr<SmallVector<int64_t>> readList(const RuleSite &site, StringRef name,
                                         DenseI64ArrayAttr attribute,
                                         size_t rank) {
  if (!attribute || attribute.empty())
    return SmallVector<int64_t>(rank, 1);
  ArrayRef<int64_t> values = attribute.asArrayRef();
  if (values.size() != rank)
    return site.fail(name, " must have an entry for each window dimension: ",
                     rank, " dimensions, ", values.size(), " entries");
  if (failed(verifyPositive(site, {name, values})))
    return failure();
  return SmallVector<int64_t>(values);
}

std::optional<int64_t> countWindows(int64_t size,
                                    const WindowDimension &window) {
  std::optional<int64_t> padded = padSize(
      size, window.paddingLow, window.paddingHigh, window.baseDilation - 1);
  std::optional<int64_t> reach =
      padSize(window.size, 0, 0, window.windowDilation - 1);
  if (!padded || !reach)
    return std::nullopt;
  if (*padded <= 0 || *reach > *padded)
    return 0;
  return addSizes((*padded - *reach) / window.stride, 1);
}
} // namespace

FailureOr<SmallVector<WindowDimension>>
stablehlo::readWindow(const RuleSite &site, const WindowLists &lists) {
  size_t rank = lists.sizes.size();
  for (auto [index, size] : llvm::enumerate(lists.sizes))
    if (size <= 0 && !(lists.sizesMayBeUnknown && ShapedType::isDynamic(size)))
      return site.fail(lists.sizesName, " must be positive: entry ", index,
                       " is ", size);
  auto strides = readList(site, "window_strides", lists.strides, rank);
  if (failed(strides))
    return failure();
  auto baseDilations =
      readList(site, lists.baseDilationsName, lists.baseDilations, rank);
  if (failed(baseDilations))
    return failure();
  auto windowDilations =
      readList(site, lists.windowDilationsName, lists.windowDilations, rank);
  if (failed(windowDilations))
    return failure();
  SmallVector<std::pair<int64_t, int64_t>> padding(rank, {0, 0});
  if (lists.padding && !lists.padding.empty()) {
    auto pairs = readPairs(site, "padding", lists.padding);
    if (failed(pairs))
      return failure();
    padding = *pairs;
  }
  if (padding.size() != rank)
    return site.fail("padding must have a pair for each window dimension: ",
                     rank, " dimensions, ", padding.size(), " pairs");
  SmallVector<WindowDimension> window;
  for (size_t i = 0; i < rank; ++i)
    window.push_back({lists.sizes[i], (*strides)[i], padding[i].first,
                      padding[i].second, (*windowDilations)[i],
                      (*baseDilations)[i]});
  return window;
}

FailureOr<int64_t> stablehlo::countWindows(const RuleSite &site, int64_t dim,
                                           int64_t size,
                                           const WindowDimension &window) {
  if (ShapedType::isDynamic(size) || ShapedType::isDynamic(window.size))
    return ShapedType::kDynamic;
  if (std::optional<int64_t> count = ::countWindows(size, window))
    return *count;
  return site.fail("padded and dilated sizes must fit in 64 bits: dimension ",
                   dim, " of size ", size, " does not");
}

LogicalResult stablehlo::addWindows(const RuleSite &site, ShapeBuilder &shape,
                                    RankedTensorType type, int64_t dim,
                                    const WindowDimension &window) {
  FailureOr<int64_t> size =
      countWindows(site, dim, type.getDimSize(dim), window);
  FailureOr<int64_t> bound = countWindows(site, dim, boundOf(type, dim), window);
  if (failed(size) || failed(bound))
    return failure();
  shape.add(*size, *bound);
  return success();
}
