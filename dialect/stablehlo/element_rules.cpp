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

Operation *stablehlo::findOnlyOp(Block &body) {
  if (body.getNumArguments() != 2 || !llvm::hasNItems(body, 2))
    return nullptr;
  Operation *op = &body.front();
  return op->getNumOperands() == 2 &&
                 llvm::is_contained(op->getOperands(), body.getArgument(0)) &&
                 llvm::is_contained(op->getOperands(), body.getArgument(1)) &&
                 body.getTerminator()->getOperand(0).getDefiningOp() == op
             ? op
             : nullptr;
}

bool stablehlo::isSaidToBeKept(Operation *broadcast, int64_t dim) {
  auto kept = broadcast->getAttrOfType<DenseI64ArrayAttr>(
      "known_nonexpanding_dimensions");
  return kept && llvm::is_contained(kept.asArrayRef(), dim);
}

std::optional<ArrayRef<int64_t>> stablehlo::getReducedRows(Operation *op) {
  auto reduce = dyn_cast<ReduceOp>(op);
  if (!reduce || readsOutside(reduce.getBody()))
    return std::nullopt;
  auto type = cast<RankedTensorType>(reduce.getInputs()[0].getType());
  size_t numReduced = reduce.getDimensions().size();
  auto numKept = static_cast<size_t>(type.getRank()) - numReduced;
  if (numKept == 0 || numReduced == 0 ||
      llvm::any_of(reduce.getDimensions(), [&](int64_t dim) {
        return dim < static_cast<int64_t>(numKept);
      }))
    return std::nullopt;
  return type.getShape().take_front(numKept);
}

/// Whether leading dimensions stay the same in a reshape that may have sizes
/// which only the call knows.
static bool keepsLeadingDims(Value from, Value to, size_t count) {
  ArrayRef<int64_t> before = getSizes(from), after = getSizes(to);
  if (!ShapedType::isDynamicShape(before.take_front(count)))
    return true;
  // What is behind them is known, so that one that is not known stays too.
  auto isOne = [](ArrayRef<int64_t> sizes) {
    return llvm::count_if(sizes, ShapedType::isDynamic) == 1 &&
           !llvm::is_contained(sizes, 0);
  };
  ArrayRef<int64_t> a = before.drop_front(count), b = after.drop_front(count);
  return isOne(before) && isOne(after) && !ShapedType::isDynamicShape(a) &&
         !ShapedType::isDynamicShape(b) &&
         ShapedType::getNumElements(a) == ShapedType::getNumElements(b);
}

/// Whether leading dimensions of a broadcast's operand are those of its result.
static bool keepsLeadingDims(Operation *broadcast, ArrayRef<int64_t> dims,
                             ArrayRef<int64_t> rows) {
  for (auto [dim, size] : llvm::enumerate(rows)) {
    auto number = static_cast<int64_t>(dim);
    if (dims[dim] != number || (ShapedType::isDynamic(size) &&
                                !stablehlo::isSaidToBeKept(broadcast, number)))
      return false;
  }
  return true;
}

bool stablehlo::keepsRows(OpOperand &use, ArrayRef<int64_t> rows) {
  Operation *op = use.getOwner();
  if (!hasRows(use.get(), rows) ||
      !llvm::all_of(op->getResults(),
                    [&](Value result) { return hasRows(result, rows); }))
    return false;
  if (auto broadcast = dyn_cast<BroadcastInDimOp>(op))
    return keepsLeadingDims(op, broadcast.getBroadcastDimensions(), rows);
  if (auto broadcast = dyn_cast<DynamicBroadcastInDimOp>(op))
    return use.getOperandNumber() == 0 &&
           keepsLeadingDims(op, broadcast.getBroadcastDimensions(), rows);
  if (isa<ReduceOp>(op))
    return getReducedRows(op) == rows;
  Access access = getAccess(use);
  if (access == Access::Reshaped &&
      !keepsLeadingDims(use.get(), op->getResult(0), rows.size()))
    return false;
  return op->getNumRegions() == 0 &&
         (access == Access::Elementwise || access == Access::Reshaped);
}
