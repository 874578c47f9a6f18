#include "compiler/kernel/plan/tensors_in_memory.h"

#include "dialect/newer/attributes.h"
#include "dialect/stablehlo/access.h"
#include "dialect/stablehlo/ops.h"

using namespace mlir;

bool alula::kernel::isInMemory(Value tensor,
                               const DenseSet<Operation *> &inlined) {
  Operation *op = tensor.getDefiningOp();
  if (!op)
    return true;
  if (auto constant = dyn_cast<stablehlo::ConstantOp>(op)) {
    // A number in the code, or data of its own.
    Attribute value = constant.getValue();
    auto dense = dyn_cast<DenseElementsAttr>(value);
    auto bridged = dyn_cast<newer::DenseBridgedAttr>(value);
    bool isSplat = (dense && dense.isSplat()) || (bridged && bridged.isSplat());
    return !isSplat && constant.getType().getNumElements() != 0;
  }
  // The same memory in another shape.
  if (stablehlo::readsAny(op, stablehlo::Access::Reshaped))
    return !inlined.contains(op) || isInMemory(op->getOperand(0), inlined);
  return !inlined.contains(op);
}
