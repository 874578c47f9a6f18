// Which ops share a kernel: a producer joins its consumer if nobody else needs
// its result and recomputing borders costs nothing.

#include "compiler/dispatch/kernel_groups.h"

#include "dialect/stablehlo/ops.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace alula::dispatch;

namespace {
/// Each element of the result depends on one element of each operand.
bool isMap(Operation *op) {
  return op->hasTrait<mlir::OpTrait::Elementwise>() ||
         isa<stablehlo::BroadcastInDimOp, stablehlo::IotaOp,
             stablehlo::ReshapeOp, stablehlo::TransposeOp, stablehlo::SliceOp,
             stablehlo::SelectOp, stablehlo::ClampOp, stablehlo::ReverseOp>(op);
}

bool isElementwise(Operation *op) {
  return op->hasTrait<mlir::OpTrait::Elementwise>() ||
         isa<stablehlo::SelectOp, stablehlo::ClampOp>(op);
}

/// Loops over more than its result; a kernel holds one such op.
bool isContraction(Operation *op) {
  return isa<stablehlo::DotGeneralOp, stablehlo::ReduceOp>(op);
}

bool staysOnHost(Operation *op) {
  return op->hasTrait<mlir::OpTrait::IsTerminator>() ||
         op->hasTrait<mlir::OpTrait::ConstantLike>();
}

class GroupBuilder {
public:
  explicit GroupBuilder(Operation *root)
      : hasContraction(isContraction(root)), onlyElementwise(isElementwise(root)) {
    add(root);
  }

  /// Takes in producers until none fits. Each round may free the next.
  void grow(const DenseSet<Operation *> &taken) {
    for (size_t i = 0; i < members.size(); ++i)
      for (Value operand : members[i]->getOperands())
        if (Operation *producer = operand.getDefiningOp())
          if (fits(producer, taken))
            add(producer);
  }

  KernelGroup take() {
    KernelGroup group;
    group.ops = members;
    llvm::sort(group.ops, [](Operation *a, Operation *b) {
      return a->isBeforeInBlock(b);
    });
    return group;
  }

private:
  void add(Operation *op) {
    members.push_back(op);
    set.insert(op);
    hasContraction |= isContraction(op);
    onlyElementwise &= isElementwise(op);
  }

  bool fits(Operation *producer, const DenseSet<Operation *> &taken) {
    if (taken.contains(producer) || set.contains(producer) ||
        producer->getBlock() != members.front()->getBlock() ||
        staysOnHost(producer))
      return false;
    // A contraction joins an epilogue that only maps its elements.
    bool joins = isMap(producer) ||
                 (isContraction(producer) && !hasContraction &&
                  onlyElementwise && producer->getNumResults() == 1);
    return joins && llvm::all_of(producer->getUsers(), [&](Operation *user) {
             return set.contains(user);
           });
  }

  SmallVector<Operation *> members;
  DenseSet<Operation *> set;
  bool hasContraction, onlyElementwise;
};
} // namespace

SmallVector<KernelGroup> alula::dispatch::formKernelGroups(Block &block) {
  SmallVector<KernelGroup> groups;
  DenseSet<Operation *> taken;
  // From the end, so that each op meets its consumers' groups first.
  for (Operation &op : llvm::reverse(block)) {
    if (staysOnHost(&op) || taken.contains(&op))
      continue;
    GroupBuilder builder(&op);
    builder.grow(taken);
    groups.push_back(builder.take());
    taken.insert(groups.back().ops.begin(), groups.back().ops.end());
  }
  std::reverse(groups.begin(), groups.end());
  return groups;
}
