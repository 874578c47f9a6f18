// Several small sums over the same devices → one.
//
//   %a = all_reduce(%x : 8x4), %b = all_reduce(%y : 16)
//   → %c = all_reduce(concatenate(%x as 32, %y as 16)); %a, %b: its slices
//
// Only where none needs another; what stood between them and uses one of them
// goes behind. What is large is left alone: there a message costs little beside
// its bytes, which would have to be copied.

#include "compiler/partition/passes.h"
#include "compiler/partition/rule.h"

#include "dialect/stablehlo/device_counts.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace alula::partition {
#define GEN_PASS_DEF_FUSECOLLECTIVES
#include "compiler/partition/passes.h.inc"
} // namespace alula::partition

using namespace mlir;
using namespace alula::partition;

namespace {
/// Bytes of an array that is worth copying, and of all that go together.
constexpr int64_t mostEach = 1 << 17, mostTogether = 1 << 20;

struct Group {
  Reducer reducer;
  /// How many sums stand between the block's beginning and these, one needing
  /// the other: those with the same number don't need each other.
  unsigned depth;
  int64_t bytes = 0;
  SmallVector<stablehlo::AllReduceOp> members;
};

int64_t getBytes(RankedTensorType type) {
  Type element = type.getElementType();
  int64_t bits = element.isIntOrFloat()
                     ? std::max(element.getIntOrFloatBitWidth(), 8u)
                     : 128;
  return type.getNumElements() * bits / 8;
}

bool isAlike(const Group &group, Reducer reducer, unsigned depth,
             stablehlo::AllReduceOp op) {
  stablehlo::AllReduceOp other = group.members.front();
  auto element = [](stablehlo::AllReduceOp reduce) {
    return getElementTypeOrSelf(reduce.getOperands()[0].getType());
  };
  return group.reducer == reducer && group.depth == depth &&
         element(op) == element(other) &&
         op.getReplicaGroups() == other.getReplicaGroups() &&
         op.getChannelHandle() == other.getChannelHandle() &&
         op.getUseGlobalDeviceIds() == other.getUseGlobalDeviceIds();
}

/// The ops of a block that `op`, or something in its regions, uses.
void visitUsed(Operation *op, Block *block,
               function_ref<void(Operation *)> visit) {
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (Operation *maker = operand.getDefiningOp();
          maker && maker->getBlock() == block)
        visit(maker);
  });
}

class Fuser {
public:
  explicit Fuser(MLIRContext *context) : rewriter(context) {}

  void run(Block &block) {
    bool hasFused = false;
    for (Group &group : findGroups(block))
      if (group.members.size() > 1) {
        fuse(group);
        hasFused = true;
      }
    if (hasFused)
      sort(block);
  }

private:
  static std::vector<Group> findGroups(Block &block) {
    std::vector<Group> groups;
    SmallVector<size_t> open;
    llvm::DenseMap<Operation *, unsigned> depths;
    for (Operation &op : block) {
      unsigned depth = 0;
      visitUsed(&op, &block, [&](Operation *used) {
        depth = std::max(depth, depths.lookup(used));
      });
      auto reduce = dyn_cast<stablehlo::AllReduceOp>(op);
      depths[&op] = depth + (reduce ? 1 : 0);
      auto reducer = reduce ? findReducer(reduce.getComputation())
                            : std::optional<Reducer>();
      auto type = reducer && reduce->getNumOperands() == 1
                      ? getStaticType(reduce->getOperand(0))
                      : RankedTensorType();
      if (!type || getBytes(type) > mostEach)
        continue;
      auto *found = llvm::find_if(open, [&](size_t i) {
        return isAlike(groups[i], *reducer, depth, reduce);
      });
      if (found == open.end() ||
          groups[*found].bytes + getBytes(type) > mostTogether) {
        if (found != open.end())
          open.erase(found);
        open.push_back(groups.size());
        groups.push_back({*reducer, depth, 0, {}});
        found = std::prev(open.end());
      }
      groups[*found].members.push_back(reduce);
      groups[*found].bytes += getBytes(type);
    }
    return groups;
  }

  Value reshape(Value value, ArrayRef<int64_t> shape) {
    auto type = cast<RankedTensorType>(value.getType()).clone(shape);
    if (type == value.getType())
      return value;
    return rewriter.create<stablehlo::ReshapeOp>(value.getLoc(), type, value);
  }

  void fuse(Group &group) {
    stablehlo::AllReduceOp last = group.members.back();
    SmallVector<Location> locations;
    for (stablehlo::AllReduceOp member : group.members)
      locations.push_back(member.getLoc());
    Location location = rewriter.getFusedLoc(locations);
    rewriter.setInsertionPoint(last);
    SmallVector<Value> parts;
    int64_t count = 0;
    for (stablehlo::AllReduceOp member : group.members) {
      Value operand = member->getOperand(0);
      int64_t size = getStaticType(operand).getNumElements();
      parts.push_back(reshape(operand, {size}));
      count += size;
    }
    auto type = RankedTensorType::get(
        {count}, getElementTypeOrSelf(parts.front().getType()));
    Value all = rewriter.create<stablehlo::ConcatenateOp>(location, type, parts,
                                                          uint64_t(0));
    Operation *sum = rewriter.clone(*last);
    sum->setLoc(location);
    sum->setOperand(0, all);
    sum->getResult(0).setType(type);
    int64_t begin = 0;
    for (stablehlo::AllReduceOp member : group.members) {
      RankedTensorType own = getStaticType(member->getResult(0));
      int64_t end = begin + own.getNumElements();
      Value part = rewriter.create<stablehlo::SliceOp>(
          member.getLoc(), sum->getResult(0), ArrayRef<int64_t>{begin},
          ArrayRef<int64_t>{end}, ArrayRef<int64_t>{1});
      rewriter.replaceOp(member, reshape(part, own.getShape()));
      begin = end;
    }
  }

  /// Whatever stands before what it uses goes right behind it; all else keeps
  /// its order, and so do ops that others can see.
  static void sort(Block &block) {
    SmallVector<Operation *> ops;
    for (Operation &op : block)
      ops.push_back(&op);
    llvm::DenseMap<Operation *, unsigned> missing;
    llvm::DenseMap<Operation *, SmallVector<Operation *>> waiting;
    Operation *effect = nullptr;
    for (Operation *op : ops) {
      llvm::SmallPtrSet<Operation *, 8> used;
      visitUsed(op, &block, [&](Operation *maker) {
        if (maker != op)
          used.insert(maker);
      });
      if (!isMemoryEffectFree(op) && !isa<stablehlo::AllReduceOp>(op)) {
        if (effect)
          used.insert(effect);
        effect = op;
      }
      missing[op] = static_cast<unsigned>(used.size());
      for (Operation *maker : used)
        waiting[maker].push_back(op);
    }
    llvm::DenseSet<Operation *> passed;
    SmallVector<Operation *> order;
    auto place = [&](Operation *first) {
      SmallVector<Operation *> ready = {first};
      for (size_t i = 0; i < ready.size(); ++i) {
        order.push_back(ready[i]);
        for (Operation *user : waiting.lookup(ready[i]))
          if (--missing[user] == 0 && passed.contains(user))
            ready.push_back(user);
      }
    };
    for (Operation *op : ops) {
      if (op->hasTrait<OpTrait::IsTerminator>())
        continue;
      passed.insert(op);
      if (missing[op] == 0)
        place(op);
    }
    Operation *end =
        block.mightHaveTerminator() ? block.getTerminator() : nullptr;
    for (Operation *op : order)
      if (end)
        op->moveBefore(end);
      else
        op->moveBefore(&block, block.end());
  }

  IRRewriter rewriter;
};

struct FuseCollectives
    : alula::partition::impl::FuseCollectivesBase<FuseCollectives> {
  void runOnOperation() override {
    if (stablehlo::getPartitionCount(getOperation()) == 1)
      return;
    SmallVector<Block *> blocks;
    for (auto function : getOperation().getOps<func::FuncOp>())
      function.walk([&](Block *block) { blocks.push_back(block); });
    Fuser fuser(&getContext());
    for (Block *block : blocks)
      fuser.run(*block);
  }
};
} // namespace
