// Sums of tensors that are padded with zeros, each where the others are not,
// are concatenations: what gradients of slices are.
//   add (pad %x, 0, low = [0], high = [2]), (pad %y, 0, low = [3], high = [0])
//   →  concatenate (add %x, 0), (add %y, 0)
// The zeros that are added make -0 a zero, as the sum does. Padding is along
// one dimension, and not between elements.

#include "compiler/optimize/passes.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseMap.h"

#include <map>

namespace alula::optimize {
#define GEN_PASS_DEF_SIMPLIFYPADDING
#include "compiler/optimize/passes.h.inc"
} // namespace alula::optimize

using namespace mlir;

namespace {
struct Part {
  Value value;
  int64_t size;
};

/// Zero but for parts along one dimension, each from the element on that it is
/// found by.
struct Sum {
  int64_t dim;
  std::map<int64_t, Part> parts;
  /// What computes it, users last.
  SmallVector<Operation *> ops;
};

/// For floats the positive zero: a negative one leaves -0 as it is.
bool isZero(Value value) {
  DenseElementsAttr dense;
  if (!matchPattern(value, m_Constant(&dense)) || !dense.isSplat())
    return false;
  if (isa<FloatType>(dense.getElementType()))
    return dense.getSplatValue<APFloat>().isPosZero();
  return isa<IntegerType>(dense.getElementType()) &&
         dense.getSplatValue<APInt>().isZero();
}

std::optional<Sum> readPad(stablehlo::PadOp pad) {
  auto from = dyn_cast<RankedTensorType>(pad.getOperand().getType());
  if (!from || !from.hasStaticShape() || from.getNumElements() == 0 ||
      !isZero(pad.getPaddingValue()))
    return std::nullopt;
  std::optional<Sum> found;
  for (size_t dim = 0; dim < static_cast<size_t>(from.getRank()); ++dim) {
    int64_t low = pad.getEdgePaddingLow()[dim];
    int64_t high = pad.getEdgePaddingHigh()[dim];
    if (low < 0 || high < 0 || pad.getInteriorPadding()[dim] != 0)
      return std::nullopt;
    if (low == 0 && high == 0)
      continue;
    if (found)
      return std::nullopt;
    found = Sum{static_cast<int64_t>(dim),
                {{low, {pad.getOperand(), from.getShape()[dim]}}},
                {pad}};
  }
  return found;
}

bool overlap(const Sum &sum, const Sum &other) {
  return llvm::any_of(other.parts, [&](const auto &entry) {
    auto [low, part] = entry;
    auto next = sum.parts.lower_bound(low);
    if (next != sum.parts.end() && next->first < low + part.size)
      return true;
    return next != sum.parts.begin() &&
           std::prev(next)->first + std::prev(next)->second.size > low;
  });
}

/// Of `left` and `right` together, unless they overlap; then both stay.
std::optional<Sum> join(Sum &left, Sum &right, stablehlo::AddOp op) {
  // Each part moves to a sum twice as large, or stays.
  bool isLarger = left.parts.size() >= right.parts.size();
  Sum &large = isLarger ? left : right, &small = isLarger ? right : left;
  if (large.dim != small.dim || overlap(large, small))
    return std::nullopt;
  large.parts.insert(small.parts.begin(), small.parts.end());
  llvm::append_range(large.ops, small.ops);
  large.ops.push_back(op);
  return std::move(large);
}

Value makeZeros(OpBuilder &builder, Location location, RankedTensorType type) {
  return builder.create<stablehlo::ConstantOp>(
      location,
      DenseElementsAttr::get(type, builder.getZeroAttr(type.getElementType())));
}

/// The same as a concatenation.
Value concatenate(const Sum &sum, stablehlo::AddOp op) {
  OpBuilder builder(op);
  Location location = op.getLoc();
  auto type = cast<RankedTensorType>(op.getType());
  auto dim = static_cast<size_t>(sum.dim);
  auto withSize = [&](int64_t size) {
    SmallVector<int64_t> sizes(type.getShape());
    sizes[dim] = size;
    return type.clone(sizes);
  };
  SmallVector<Value> parts;
  int64_t end = 0;
  auto fillTo = [&](int64_t low) {
    if (low > end)
      parts.push_back(makeZeros(builder, location, withSize(low - end)));
  };
  for (auto [low, part] : sum.parts) {
    fillTo(low);
    Value value = part.value;
    if (isa<FloatType>(type.getElementType()))
      value = builder.create<stablehlo::AddOp>(
          location, value, makeZeros(builder, location, withSize(part.size)));
    parts.push_back(value);
    end = low + part.size;
  }
  fillTo(type.getShape()[dim]);
  return builder.create<stablehlo::ConcatenateOp>(
      location, type, parts, static_cast<uint64_t>(sum.dim));
}

struct SimplifyPadding
    : public alula::optimize::impl::SimplifyPaddingBase<SimplifyPadding> {
  void runOnOperation() override {
    getOperation()->walk([&](stablehlo::AddOp op) { visit(op); });
    for (stablehlo::AddOp op : order) {
      auto found = sums.find(op);
      if (found == sums.end())
        continue;
      op.getResult().replaceAllUsesWith(concatenate(found->second, op));
      for (Operation *part : llvm::reverse(found->second.ops))
        part->erase();
    }
    order.clear();
    sums.clear();
  }

private:
  void visit(stablehlo::AddOp op) {
    auto type = dyn_cast<RankedTensorType>(op.getType());
    if (!type || !type.hasStaticShape())
      return;
    std::optional<Sum> leftPad, rightPad;
    Sum *left = find(op.getLhs(), op, leftPad);
    Sum *right = left ? find(op.getRhs(), op, rightPad) : nullptr;
    std::optional<Sum> both;
    if (!right || !(both = join(*left, *right, op)))
      return;
    sums.erase(op.getLhs().getDefiningOp());
    sums.erase(op.getRhs().getDefiningOp());
    sums.try_emplace(op, std::move(*both));
    order.push_back(op);
  }

  /// What a value is if `user` alone reads it: in `pad`, or found before.
  Sum *find(Value value, Operation *user, std::optional<Sum> &pad) {
    Operation *op = value.getDefiningOp();
    if (!op || !op->hasOneUse() || op->getBlock() != user->getBlock())
      return nullptr;
    if (auto padding = dyn_cast<stablehlo::PadOp>(op)) {
      pad = readPad(padding);
      return pad ? &*pad : nullptr;
    }
    auto found = sums.find(op);
    return found == sums.end() ? nullptr : &found->second;
  }

  /// Sums that are a part of no other one yet; all that there were.
  llvm::DenseMap<Operation *, Sum> sums;
  SmallVector<stablehlo::AddOp> order;
};
} // namespace
