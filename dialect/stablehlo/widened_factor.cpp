// Which ops only widen an operand of a product.

#include "dialect/stablehlo/widened_factor.h"

#include "dialect/stablehlo/access.h"
#include "dialect/stablehlo/ops.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace {
/// More are not worth repeating for each block of rows.
constexpr size_t maxOps = 16;
/// Bits of what is converted.
constexpr unsigned maxBits = 8;

/// Bits of a tensor of real numbers; nothing for others.
std::optional<int64_t> countBits(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape() ||
      !type.getElementType().isIntOrFloat() ||
      type.getElementType().isInteger(1))
    return std::nullopt;
  return type.getNumElements() *
         static_cast<int64_t>(type.getElementTypeBitWidth());
}

bool isSplat(Value value) {
  auto constant = value.getDefiningOp<stablehlo::ConstantOp>();
  auto elements =
      constant ? dyn_cast<ElementsAttr>(constant.getValue()) : ElementsAttr();
  return elements && elements.isSplat();
}

/// Cheap, and an element is made of one of each operand.
bool mayRepeat(Operation *op) {
  using stablehlo::Access;
  return op->getNumResults() == 1 && op->getNumRegions() == 0 &&
         op->getNumOperands() != 0 && countBits(op->getResult(0)) &&
         stablehlo::getElementCost(op) <= stablehlo::Cost::Few &&
         stablehlo::readsOnly(op, Access::Elementwise | Access::Reshaped |
                                      Access::Permuted | Access::Repeated |
                                      Access::Unread);
}

bool widensFewBits(Operation *op, int64_t count) {
  auto convert = dyn_cast<stablehlo::ConvertOp>(op);
  if (!convert)
    return false;
  auto from = cast<RankedTensorType>(convert.getOperand().getType());
  return from.getElementTypeBitWidth() <= maxBits &&
         from.getNumElements() == count;
}
} // namespace

SmallVector<Operation *> stablehlo::findWidening(OpOperand &factor) {
  Operation *product = factor.getOwner();
  Operation *last = factor.get().getDefiningOp();
  std::optional<int64_t> bits = countBits(factor.get());
  if (!last || !bits || !isa<DotGeneralOp>(product))
    return {};
  int64_t count =
      cast<RankedTensorType>(factor.get().getType()).getNumElements();
  SetVector<Operation *> ops;
  auto accepts = [&](Operation *op) {
    return op && op->getBlock() == product->getBlock() && mayRepeat(op) &&
           llvm::all_of(op->getUses(), [&](OpOperand &use) {
             return ops.contains(use.getOwner()) || &use == &factor;
           });
  };
  if (!accepts(last))
    return {};
  ops.insert(last);
  int64_t read = 0;
  bool widens = false;
  SmallPtrSet<Value, 4> sources;
  for (size_t i = 0; i < ops.size(); ++i) {
    bool isSource = widensFewBits(ops[i], count);
    widens |= isSource;
    for (Value operand : ops[i]->getOperands()) {
      // What few bits are made of is not repeated.
      if (!isSource && accepts(operand.getDefiningOp())) {
        ops.insert(operand.getDefiningOp());
        continue;
      }
      std::optional<int64_t> more = countBits(operand);
      if (!more)
        return {};
      if (!isSplat(operand) && sources.insert(operand).second)
        read += *more;
    }
  }
  // From twice as many bits on it pays.
  if (!widens || ops.size() > maxOps || read * 8 > *bits * 5)
    return {};
  return ops.takeVector();
}
