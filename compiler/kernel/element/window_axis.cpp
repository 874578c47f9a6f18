#include "compiler/kernel/element/window_axis.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace alula::kernel;

SmallVector<WindowAxis> alula::kernel::readWindow(Operation *op, int64_t rank) {
  SmallVector<WindowAxis> window(static_cast<size_t>(rank));
  auto read = [&](StringRef name, int64_t WindowAxis::*field) {
    auto list = op->getAttrOfType<DenseI64ArrayAttr>(name);
    if (!list || list.empty())
      return;
    for (auto [axis, value] : llvm::zip_equal(window, list.asArrayRef()))
      axis.*field = value;
  };
  read("window_dimensions", &WindowAxis::size);
  read("window_strides", &WindowAxis::stride);
  read("window_dilations", &WindowAxis::windowDilation);
  read("base_dilations", &WindowAxis::baseDilation);
  if (auto pairs = op->getAttrOfType<DenseIntElementsAttr>("padding"))
    for (auto [i, value] : llvm::enumerate(pairs.getValues<APInt>()))
      (i % 2 ? window[i / 2].high : window[i / 2].low) = value.getSExtValue();
  return window;
}
