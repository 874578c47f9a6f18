// Each value that is read gets a site: the loops that read it, if these are one
// nest and go over it once. A value with one site is computed there.

#include "compiler/kernel/plan/inline_plan.h"

#include "compiler/kernel/element/generators.h"
#include "dialect/dispatch/ops.h"
#include "dialect/stablehlo/element_rules.h"
#include "dialect/stablehlo/ops.h"

using namespace mlir;
using namespace alula::kernel;

bool alula::kernel::keepsIndices(Operation *op) {
  return stablehlo::isElementwise(op) || isa<stablehlo::MapOp>(op);
}

namespace {
int64_t countElements(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() ? type.getNumElements() : -1;
}

/// A reshape that adds or drops dimensions of size 1: no index is divided.
bool keepsDims(Operation *reshape) {
  auto isOne = [](int64_t size) { return size == 1; };
  auto from = cast<RankedTensorType>(reshape->getOperand(0).getType()).getShape();
  auto to = cast<RankedTensorType>(reshape->getResult(0).getType()).getShape();
  SmallVector<int64_t> a(from), b(to);
  llvm::erase_if(a, isOne);
  llvm::erase_if(b, isOne);
  return a == b;
}

/// Reads each element of an operand at most once, in some order.
bool readsOnce(Operation *op, Value operand) {
  // The indices of whole slices and windows are read in several loops.
  if (isa<stablehlo::GatherOp>(op))
    return operand == op->getOperand(1) &&
           llvm::all_of(cast<stablehlo::GatherOp>(op).getSliceSizes(),
                        [](int64_t size) { return size == 1; });
  if (auto scatter = dyn_cast<stablehlo::ScatterOp>(op))
    return operand != scatter.getScatterIndices() ||
           scatter.getScatterDimensionNumbers().getUpdateWindowDims().empty();
  if (isa<stablehlo::BroadcastInDimOp>(op))
    return countElements(op->getOperand(0)) != -1 &&
           countElements(op->getOperand(0)) == countElements(op->getResult(0));
  if (isa<stablehlo::ReshapeOp>(op))
    return keepsDims(op);
  return isa<stablehlo::ReduceOp, stablehlo::SortOp,
             stablehlo::TransposeOp, stablehlo::SliceOp,
             stablehlo::DynamicSliceOp, stablehlo::ReverseOp,
             stablehlo::ConcatenateOp, stablehlo::PadOp,
             stablehlo::DynamicPadOp, stablehlo::RealDynamicSliceOp,
             stablehlo::SetDimensionSizeOp>(op);
}

bool isMadeOfParts(Operation *op) {
  return isa<stablehlo::ConcatenateOp, stablehlo::PadOp,
             stablehlo::ReshapeOp, stablehlo::DynamicReshapeOp>(op);
}

/// Elements that cost no more than reading memory would.
bool isCheap(Operation *op, const DenseSet<Operation *> &inlined) {
  if (isa<stablehlo::ConstantOp, stablehlo::IotaOp, stablehlo::DynamicIotaOp,
          alula::dispatch::PackOp, alula::dispatch::FromPanelsOp>(op))
    return true;
  if (!isa<stablehlo::BroadcastInDimOp, stablehlo::SliceOp,
           stablehlo::TransposeOp, stablehlo::ReverseOp, stablehlo::ConvertOp,
           stablehlo::DynamicBroadcastInDimOp>(op))
    return false;
  Operation *source = op->getOperand(0).getDefiningOp();
  return !source || source->getBlock() != op->getBlock() ||
         countElements(op->getOperand(0)) == 1 || !inlined.contains(source);
}

class Planner {
public:
  explicit Planner(Block &block) : block(block) {}

  DenseSet<Operation *> plan() {
    // Consumers first. What an op's producers will be is not known yet, so
    // cheapness is asked again from the front.
    for (Operation &op : llvm::reverse(block.without_terminator()))
      if (hasGenerator(&op))
        sites[&op] = findSite(&op);
    DenseSet<Operation *> inlined;
    DenseMap<Operation *, unsigned> depths;
    for (Operation &op : block.without_terminator()) {
      // Which constants are numbers in the code is said where they are lowered.
      if (!hasGenerator(&op) || isa<stablehlo::ConstantOp>(op))
        continue;
      unsigned depth = 0;
      for (Value operand : op.getOperands())
        depth = std::max(depth, depths.lookup(operand.getDefiningOp()) + 1);
      if ((sites.lookup(&op) && depth < maxInlineDepth) || isCheap(&op, inlined)) {
        inlined.insert(&op);
        depths[&op] = depth;
      }
    }
    return inlined;
  }

private:
  /// Null for several sites, or one that reads elements repeatedly.
  Operation *findSite(Operation *op) {
    Operation *site = nullptr;
    for (Operation *user : op->getUsers()) {
      Operation *found = findSiteOfUse(op->getResult(0), user);
      if (!found || (site && site != found))
        return nullptr;
      site = found;
    }
    return site;
  }

  Operation *findSiteOfUse(Value value, Operation *user) {
    if (user->getBlock() != &block)
      return nullptr;
    // Values of one shape are returned by one nest of loops. What is made of
    // parts is better written part by part.
    if (user == block.getTerminator())
      return isMadeOfParts(value.getDefiningOp()) ? nullptr : user;
    // An op that is materialized is its own site.
    if (keepsIndices(user))
      return sites.lookup(user) ? sites.lookup(user) : user;
    // Two elements of the same op at different indices are two computations,
    // and a chain of such ops would be exponentially many.
    return readsOnce(user, value) && llvm::count(user->getOperands(), value) == 1
               ? user
               : nullptr;
  }

  Block &block;
  DenseMap<Operation *, Operation *> sites;
};
} // namespace

DenseSet<Operation *> alula::kernel::planInlining(Block &block) {
  return Planner(block).plan();
}
