#include "compiler/dispatch/merge_groups.h"

#include "compiler/dispatch/work.h"
#include "dialect/stablehlo/access.h"
#include "dialect/stablehlo/element_rules.h"
#include "dialect/stablehlo/ops.h"

#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace alula::dispatch;

namespace {
/// Makes two groups one.
void take(KernelGroup &group, const KernelGroup &other) {
  group.ops.append(other.ops);
  llvm::sort(group.ops,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  group.codeOps += other.codeOps;
}

class LoopMerger {
public:
  LoopMerger(SmallVector<KernelGroup> &groups, const MachineFacts &machine)
      : groups(groups), machine(machine) {}

  void run() {
    // What two have become may join a third.
    for (int round = 0; round < mostRounds && mergeOnce(); ++round) {
    }
  }

private:
  static constexpr size_t mostApart = 8;
  static constexpr int mostRounds = 4;

  /// What comes first moves down to what comes later.
  bool mergeOnce() {
    bool merged = false;
    for (size_t last = groups.size(); last-- > 0;)
      for (size_t reach = 0, first = last; first-- > 0 && reach < mostApart;
           ++reach)
        if (mayMerge(groups[first], groups[last])) {
          take(groups[last], groups[first]);
          groups.erase(groups.begin() + static_cast<ptrdiff_t>(first));
          --last;
          merged = true;
        }
    return merged;
  }

  bool mayMerge(const KernelGroup &first, const KernelGroup &last) {
    return isLoop(first) && isLoop(last) && getShape(first) == getShape(last) &&
           hasRoom(first.codeOps + last.codeOps, machine) &&
           sharesElements(first, last) && isReadAfter(first, last);
  }

  static ArrayRef<int64_t> getShape(const KernelGroup &group) {
    return cast<RankedTensorType>(group.getLast()->getResult(0).getType())
        .getShape();
  }

  static bool isLoop(const KernelGroup &group) {
    return stablehlo::isElementwise(group.getLast()) &&
           cast<RankedTensorType>(group.getLast()->getResult(0).getType())
               .hasStaticShape() &&
           llvm::all_of(group.ops, [](Operation *op) {
             return op->getNumResults() == 1 && op->getNumRegions() == 0 &&
                    (stablehlo::isElementwise(op) ||
                     stablehlo::readsOnly(op, stablehlo::Access::Repeated));
           });
  }

  /// Whether the last one reads what the first one makes, or reads itself.
  static bool sharesElements(const KernelGroup &first,
                             const KernelGroup &last) {
    DenseSet<Value> values;
    auto isWhole = [&](Value value) {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      return type && type.getShape() == getShape(last) &&
             !isKernelConstant(value);
    };
    for (Operation *op : first.ops) {
      values.insert(op->getResult(0));
      for (Value operand : op->getOperands())
        if (isWhole(operand))
          values.insert(operand);
    }
    return llvm::any_of(last.ops, [&](Operation *op) {
      return llvm::any_of(op->getOperands(), [&](Value operand) {
        return isWhole(operand) && values.contains(operand);
      });
    });
  }

  /// Whether nothing between their places needs the first one.
  static bool isReadAfter(const KernelGroup &first, const KernelGroup &last) {
    DenseSet<Operation *> members(first.ops.begin(), first.ops.end());
    members.insert(last.ops.begin(), last.ops.end());
    Block *block = last.getLast()->getBlock();
    return llvm::all_of(first.ops, [&](Operation *op) {
      return llvm::all_of(op->getUsers(), [&](Operation *user) {
        return members.contains(user) ||
               last.getLast()->isBeforeInBlock(
                   block->findAncestorOpInBlock(*user));
      });
    });
  }

  SmallVector<KernelGroup> &groups;
  const MachineFacts &machine;
};

/// Whether a host op between the places of two groups needs the first one.
bool isNeededBetween(const KernelGroup &first, Operation *last) {
  DenseSet<Operation *> needed(first.ops.begin(), first.ops.end());
  for (Operation *op = first.getLast()->getNextNode(); op != last;
       op = op->getNextNode()) {
    if (!staysOnHost(op))
      continue;
    bool isNeeded = false;
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        isNeeded |= needed.contains(operand.getDefiningOp());
    });
    if (isNeeded)
      return true;
  }
  return false;
}

SmallVector<KernelGroup> mergeSmall(ArrayRef<KernelGroup> groups,
                                    const MachineFacts &machine) {
  SmallVector<KernelGroup> merged;
  int64_t mergedWork = 0;
  for (const KernelGroup &group : groups) {
    int64_t work = 0;
    for (Operation *op : group.ops)
      work += estimateWork(op);
    if (!merged.empty() && isSmallWork(mergedWork + work, machine) &&
        hasRoom(merged.back().codeOps + group.codeOps, machine) &&
        !isNeededBetween(merged.back(), group.getLast())) {
      take(merged.back(), group);
      mergedWork += work;
      continue;
    }
    merged.push_back(group);
    mergedWork = work;
  }
  return merged;
}
} // namespace

SmallVector<KernelGroup>
alula::dispatch::mergeGroups(SmallVector<KernelGroup> groups,
                             const MachineFacts &machine) {
  LoopMerger(groups, machine).run();
  return mergeSmall(groups, machine);
}
