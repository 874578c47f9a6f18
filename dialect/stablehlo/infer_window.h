#pragma once

#include "dialect/stablehlo/dimension_rules.h"

namespace mlir::stablehlo {

/// A window along one dimension. A kernel's size may be unknown.
struct WindowDimension {
  int64_t size;
  int64_t stride = 1;
  int64_t paddingLow = 0, paddingHigh = 0;
  int64_t windowDilation = 1, baseDilation = 1;
};

/// A window as an op's attributes give it; a missing or empty list stands for
/// ones, such a padding for zeros.
struct WindowLists {
  ArrayRef<int64_t> sizes;
  DenseI64ArrayAttr strides, baseDilations, windowDilations;
  DenseIntElementsAttr padding;
  StringRef baseDilationsName = "base_dilations";
  StringRef windowDilationsName = "window_dilations";
  StringRef sizesName = "window_dimensions";
  /// Whether kDynamic stands for an unknown size.
  bool sizesMayBeUnknown = false;
};

/// The lists put together, each with one positive entry for each dimension.
FailureOr<SmallVector<WindowDimension>> readWindow(const RuleSite &site,
                                                   const WindowLists &lists);

/// How many places the window takes along a dimension of `size`; unknown if
/// the size is. `dim` is for the message if the numbers overflow.
FailureOr<int64_t> countWindows(const RuleSite &site, int64_t dim, int64_t size,
                                const WindowDimension &window);

/// Appends the number of windows along dimension `dim` of `type`, with a bound
/// where the dimension has one.
LogicalResult addWindows(const RuleSite &site, ShapeBuilder &shape,
                         RankedTensorType type, int64_t dim,
                         const WindowDimension &window);

} // namespace mlir::stablehlo
