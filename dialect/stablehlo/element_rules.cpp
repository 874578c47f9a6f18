// Which elements of its operands an op needs for one of its results.

#include "dialect/stablehlo/element_rules.h"

#include "dialect/stablehlo/access.h"
#include "dialect/stablehlo/ops.h"

using namespace mlir;

namespace {
ArrayRef<int64_t> getSizes(Value tensor) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  return type ? type.getShape() : ArrayRef<int64_t>();
}

bool hasRows(Value tensor, ArrayRef<int64_t> rows) {
  ArrayRef<int64_t> sizes = getSizes(tensor);
  return sizes.size() >= rows.size() && sizes.take_front(rows.size()) == rows;
}

} // namespace

bool stablehlo::readsOutside(Region &region) {
  return region
      .walk([&](Operation *op) {
        bool isInside = llvm::all_of(op->getOperands(), [&](Value operand) {
          return region.isAncestor(operand.getParentRegion());
        });
        return isInside ? WalkResult::advance() : WalkResult::interrupt();
      })
      .wasInterrupted();
}

bool stablehlo::isElementwise(Operation *op) {
  return keepsIndices(op) && op->getNumRegions() == 0;
}

bool stablehlo::keepsIndices(Operation *op) {
  return op->getNumOperands() != 0 && readsOnly(op, Access::Elementwise);
}

std::optional<ArrayRef<int64_t>> stablehlo::getReducedRows(Operation *op) {
  auto reduce = dyn_cast<ReduceOp>(op);
  if (!reduce || readsOutside(reduce.getBody()))
    return std::nullopt;
  auto type = cast<RankedTensorType>(reduce.getInputs()[0].getType());
  size_t numReduced = reduce.getDimensions().size();
  auto numKept = static_cast<size_t>(type.getRank()) - numReduced;
  if (!type.hasStaticShape() || numKept == 0 || numReduced == 0 ||
      llvm::any_of(reduce.getDimensions(), [&](int64_t dim) {
        return dim < static_cast<int64_t>(numKept);
      }))
    return std::nullopt;
  return type.getShape().take_front(numKept);
}

bool stablehlo::keepsRows(OpOperand &use, ArrayRef<int64_t> rows) {
  Operation *op = use.getOwner();
  if (!hasRows(use.get(), rows) ||
      !llvm::all_of(op->getResults(),
                    [&](Value result) { return hasRows(result, rows); }))
    return false;
  if (auto broadcast = dyn_cast<BroadcastInDimOp>(op)) {
    ArrayRef<int64_t> dims = broadcast.getBroadcastDimensions();
    for (size_t dim = 0; dim < rows.size(); ++dim)
      if (dims[dim] != static_cast<int64_t>(dim))
        return false;
    return true;
  }
  if (isa<ReduceOp>(op))
    return getReducedRows(op) == rows;
  Access access = getAccess(use);
  return op->getNumRegions() == 0 &&
         (access == Access::Elementwise || access == Access::Reshaped);
}
