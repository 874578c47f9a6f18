#include "dialect/dispatch/panel_layout.h"

using namespace mlir;
using namespace alula::dispatch;

PanelLayout alula::dispatch::getPanelLayout(FromPanelsOp op) {
  auto panels = cast<RankedTensorType>(op.getPanels().getType());
  auto result = cast<RankedTensorType>(op.getResult().getType());
  ArrayRef<int64_t> shape = panels.getShape();
  return {shape[2], shape.size() == 4 ? shape[3] : 1, shape[1],
          panels.getElementType() != result.getElementType()};
}

int64_t alula::dispatch::getPanelGroup(Type element) {
  return std::max<int64_t>(32 / element.getIntOrFloatBitWidth(), 1);
}

bool alula::dispatch::wantsOffset(Type left, Type right) {
  return right.isInteger(8) && isa<IntegerType>(left) &&
         left.isUnsignedInteger() == right.isUnsignedInteger();
}
