// Fusion: a producer joins its consumer's kernel if it has no other consumer
// and none of its elements is computed twice; a few instructions on what is in
// memory anyway are repeated in each consumer's kernel; reductions join ops
// that iterate over the same rows. What groups have become may join others
// (merge_groups.h).

#include "compiler/dispatch/kernel_groups.h"

#include "compiler/dispatch/work.h"
#include "dialect/chlo/functions.h"
#include "dialect/dispatch/attention.h"
#include "dialect/dispatch/kernel_call.h"
#include "dialect/dispatch/ops.h"
#include "dialect/dispatch/rows.h"
#include "dialect/dispatch/short_sum.h"
#include "dialect/stablehlo/access.h"
#include "dialect/stablehlo/element_rules.h"
#include "dialect/stablehlo/ops.h"
#include "dialect/stablehlo/widened_factor.h"
#include "dialect/stablehlo/wrapped_slices.h"

#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace alula::dispatch;
using stablehlo::Cost;

namespace {
// To operands, not to bindings.
using Access = stablehlo::Access;

/// A longer row is evicted from the cache between two loops over it.
int64_t getMaxColumns(const MachineFacts &machine) {
  return machine.getCoreCacheBytes() / int64_t(sizeof(double));
}

/// With fewer rows, most cores would be idle. Lanes that share one are not.
int64_t getMinRows(const MachineFacts &machine, int64_t columns) {
  bool isForLanes =
      machine.blockThreads > 1 && columns <= getMostSharedColumns(machine);
  return isForLanes ? 1 : machine.cores / 2;
}

/// Of one kernel: reshapes behind each divide indices again.
constexpr int64_t maxTransposes = 12;

/// Pieces of one tensor that a map reads in their places: its code is written
/// for each where they are neighbours in rows.
constexpr size_t maxWrapped = 4;

/// With fewer pieces, their code is small beside what computes them.
constexpr unsigned minPieces = 16;

/// Each element that is picked from a small tensor is picked so many times.
constexpr int64_t manyPicks = 64;

/// Steps of a product for each number of an operand that is copied for all:
/// with more, copying again is next to nothing.
constexpr int64_t leastReuse = 64;

/// What code has for an element: functions, formulas and short sums counted in
/// full.
int64_t countElementOps(Operation *op) {
  if (isShortSum(op))
    return stablehlo::countTerms(op).value_or(1);
  // Each piece has code of its own.
  if (isa<stablehlo::ConcatenateOp>(op) && op->getNumOperands() > minPieces)
    return op->getNumOperands();
  return std::max(chlo::countFormulaOps(op), getStepsOfElement(op));
}

/// An element of the result is made of at most one of each operand, known by
/// its place alone.
bool isMap(Operation *op) {
  return isShortSum(op) ||
         (op->getNumRegions() == 0 && op->getNumResults() == 1 &&
          stablehlo::readsOnly(op, Access::Elementwise | Access::Reshaped |
                                       Access::Permuted | Access::Moved |
                                       Access::Repeated | Access::Fill |
                                       Access::Indices | Access::Sizes));
}

/// Reuses each element of its operands: a contraction or convolution.
bool isProduct(Operation *op) {
  return !isShortSum(op) && stablehlo::readsAny(op, Access::Contracted);
}

/// Has reduction loops; a kernel holds one such op, or several that reduce the
/// same rows.
bool isContraction(Operation *op) {
  return !isShortSum(op) &&
         stablehlo::readsAny(op, Access::Contracted | Access::Reduced);
}

bool hasToken(TypeRange types) {
  return llvm::any_of(
      types, [](Type type) { return isa<stablehlo::TokenType>(type); });
}

/// A map whose element costs no more than reading it from memory would.
bool isIndexArithmetic(Operation *op) {
  auto isInteger = [](Type type) {
    return isa<IntegerType>(getElementTypeOrSelf(type));
  };
  Cost cost = stablehlo::getElementCost(op);
  return isMap(op) && !isShortSum(op) &&
         (cost == Cost::None ||
          (cost <= Cost::Few &&
           llvm::all_of(op->getOperandTypes(), isInteger) &&
           isInteger(op->getResult(0).getType())));
}

/// A map whose elements are those of its operand, perhaps of another type.
bool isMovement(Operation *op) {
  return isMap(op) && !isShortSum(op) &&
         stablehlo::getElementCost(op) <= Cost::Convert;
}

/// Reads each number of its indices once. Most apply their updates one by one:
/// what takes long is better computed before, by all cores.
bool isScatterOfElements(Operation *op) {
  auto scatter = dyn_cast<stablehlo::ScatterOp>(op);
  return scatter &&
         scatter.getScatterDimensionNumbers().getUpdateWindowDims().empty();
}

/// The same elements in the same order, in another shape.
bool isView(Operation *op) {
  if (!isMap(op) || op->getNumOperands() != 1 ||
      !stablehlo::readsOnly(op, Access::Reshaped | Access::Repeated))
    return false;
  auto from = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  auto to = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  // Dimensions of a broadcast may change places if all but one have one index.
  return from && to && from.hasStaticShape() && to.hasStaticShape() &&
         from.getNumElements() == to.getNumElements() &&
         (stablehlo::readsOnly(op, Access::Reshaped) ||
          llvm::count_if(from.getShape(), [](int64_t n) { return n > 1; }) <=
              1);
}

/// Lists whose numbers are read one by one: which piece a number is of is
/// known.
bool listsPlaces(Operation *op) {
  auto concatenate = dyn_cast<stablehlo::ConcatenateOp>(op);
  return concatenate && llvm::all_of(op->getUses(), [&](OpOperand &use) {
           auto dim = static_cast<int64_t>(concatenate.getDimension());
           if (stablehlo::getAccess(use) != Access::Indices)
             return false;
           if (auto gather = dyn_cast<stablehlo::GatherOp>(use.getOwner()))
             return gather.getDimensionNumbers().getIndexVectorDim() == dim;
           auto scatter = dyn_cast<stablehlo::ScatterOp>(use.getOwner());
           return scatter &&
                  scatter.getScatterDimensionNumbers().getIndexVectorDim() ==
                      dim;
         });
}

/// What a scatter reads as cheaply as memory.
bool isReadByScatter(Operation *producer, Operation *scatter) {
  return isScatterOfElements(scatter)
             ? isIndexArithmetic(producer) || listsPlaces(producer)
             : isView(producer);
}

/// Has side effects: collectives, custom calls, infeed and outfeed, tokens.
bool hasEffects(Operation *op) {
  if (auto call = dyn_cast<stablehlo::CustomCallOp>(op))
    return !isKernelCall(call.getCallTargetName());
  return stablehlo::reachesOutside(op) || hasToken(op->getOperandTypes()) ||
         hasToken(op->getResultTypes());
}

/// Effects, or numbers of the host that are computed inside.
bool holdsEffects(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        bool isKernelOp =
            chlo::isTensorOp(inner) || isa<PackOp, FromPanelsOp>(inner);
        return hasEffects(inner) || !isKernelOp ? WalkResult::interrupt()
                                                : WalkResult::advance();
      })
      .wasInterrupted();
}

class GroupBuilder {
public:
  GroupBuilder(Operation *root, const MachineFacts &machine)
      : machine(machine) {
    add(root);
  }

  /// Fuses producers until none fits. Each may make its own producers fit.
  void grow(const DenseSet<Operation *> &taken) {
    // Ops with regions of their own are kernels of their own.
    bool isScatter = isa<stablehlo::ScatterOp>(members.front());
    bool isSort = isa<stablehlo::SortOp>(members.front());
    if (members.front()->getNumRegions() && !isContraction(members.front()) &&
        !isScatter && !isSort)
      return;
    for (size_t i = 0; i < members.size() && hasRoom(codeOps + 1, machine); ++i)
      for (Value operand : members[i]->getOperands())
        if (Operation *producer = operand.getDefiningOp())
          if (fits(producer, taken) &&
              (!chlo::isSpecialFunction(producer) ||
               hasRoom(codeOps + countElementOps(producer), machine)) &&
              (!isScatter || isReadByScatter(producer, members.front())) &&
              // Numbers of places, which an argsort moves, need no memory.
              (!isSort || isa<stablehlo::IotaOp>(producer)))
            add(producer);
    if (!isScatter && !isSort)
      repeatCheap();
  }

  KernelGroup take() {
    KernelGroup group;
    group.ops = members;
    group.codeOps = codeOps;
    llvm::sort(group.ops, [](Operation *a, Operation *b) {
      return a->isBeforeInBlock(b);
    });
    return group;
  }

private:
  /// Gives the group copies of what others read too, where computing an element
  /// again takes as few bytes as reading it, and that is all it takes.
  void repeatCheap() {
    for (size_t i = 0; i < members.size() && hasRoom(codeOps + 1, machine); ++i)
      for (OpOperand &operand : members[i]->getOpOperands())
        if (Operation *producer = operand.get().getDefiningOp();
            producer && mayRepeat(producer)) {
          Operation *copy = OpBuilder(producer).clone(*producer);
          producer->getResult(0).replaceUsesWithIf(
              copy->getResult(0),
              [&](OpOperand &use) { return set.contains(use.getOwner()); });
          add(copy);
        }
  }

  bool mayRepeat(Operation *producer) {
    if (set.contains(producer) ||
        producer->getBlock() != members.front()->getBlock() ||
        !isReadAnyway(producer))
      return false;
    auto rows = contractions.empty() ? std::nullopt
                                     : getSharedRows(contractions.front());
    for (OpOperand &use : producer->getUses()) {
      Operation *user = use.getOwner();
      if (set.contains(user) &&
          (isProduct(user) || factors.contains(user) || readsWhole(use) ||
           isShortSum(user) ||
           !(isMap(user) || isa<stablehlo::ReduceOp>(user)) ||
           isRepeatedInShortRow(use) ||
           (rows && !stablehlo::keepsRows(use, *rows))))
        return false;
    }
    return true;
  }

  /// What an op reads that is a few instructions on one element, which is no
  /// wider than the result; null for other ops.
  static Value findCheapOperand(Operation *op) {
    if (op->getNumResults() != 1 || staysOnHost(op) ||
        !stablehlo::isElementwise(op) ||
        stablehlo::getElementCost(op) > Cost::Few)
      return {};
    auto countBits = [](Value value) {
      Type element = getElementTypeOrSelf(value.getType());
      return element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
    };
    unsigned bits = countBits(op->getResult(0));
    Value read;
    for (Value operand : op->getOperands()) {
      if (isKernelConstant(operand))
        continue;
      if ((read && read != operand) || !countBits(operand) ||
          countBits(operand) > bits)
        return {};
      read = operand;
    }
    return read;
  }

  /// Whether an op is cheap, and what it reads is in memory whoever computes
  /// it, or read here in any case, or cheap to make of such.
  bool isReadAnyway(Operation *op) {
    constexpr int mostSteps = 4;
    for (int step = 0; step < mostSteps; ++step) {
      Value read = findCheapOperand(op);
      if (!read)
        return false;
      Operation *producer = read.getDefiningOp();
      if (!producer || staysOnHost(producer) ||
          llvm::any_of(read.getUsers(), [&](Operation *user) {
            return user != op && set.contains(user);
          }))
        return true;
      op = producer;
    }
    return false;
  }

  void add(Operation *op) {
    if (stablehlo::isElementwise(op) && allUsersIn(op, epilogue))
      epilogue.insert(op);
    if (!members.empty() && isOfTable(op))
      tables.insert(op);
    if (!members.empty() && llvm::any_of(op->getUsers(), [&](Operation *user) {
          return isProduct(user) || factors.contains(user);
        }))
      factors.insert(op);
    if (isReadWhole(op))
      wholes.insert(op);
    members.push_back(op);
    if (members.size() == 1 && !isContraction(op) && op->getNumResults() == 1 &&
        isa<RankedTensorType>(op->getResult(0).getType()))
      loops[op] = getLoopsOfDims(op->getResult(0));
    else if (auto found = findLoops(op))
      loops[op] = std::move(*found);
    isUnrolled |= isShortSum(op);
    transposes += isa<stablehlo::TransposeOp>(op);
    codeOps += countElementOps(op) * (isUnrolled ? countUnrolled(op) : 1);
    set.insert(op);
    // Threads would compute each element again for each row.
    if (isProduct(op) && machine.blockThreads == 1)
      for (OpOperand &factor : op->getOpOperands())
        for (Operation *step : stablehlo::findWidening(factor))
          widening.insert(step);
    if (isContraction(op))
      contractions.push_back(op);
  }

  /// The loops that index a producer, if they are the same for all its readers.
  std::optional<LoopsOfDims> findLoops(Operation *producer) {
    std::optional<LoopsOfDims> common;
    for (OpOperand &use : producer->getUses()) {
      auto user = loops.find(use.getOwner());
      auto found = user == loops.end() ? std::nullopt
                                       : getLoopsOfDims(use, user->second);
      if (!found || (common && *common != *found))
        return std::nullopt;
      common = std::move(found);
    }
    return common;
  }

  /// Elements that code of their own computes, since a short sum reads them.
  int64_t countUnrolled(Operation *op) {
    auto found = loops.find(op);
    if (found == loops.end())
      return 1;
    int64_t count = 1;
    for (auto [loop, size] : llvm::zip_equal(
             found->second,
             cast<RankedTensorType>(op->getResult(0).getType()).getShape()))
      if (loop == unrolled)
        count *= size;
    return count;
  }

  /// A short sum needs elements of an operand for several of its own: these are
  /// computed together, or in other loops than the operand's.
  bool isReadOnceBySums(Operation *producer) {
    if (llvm::none_of(producer->getUsers(), isShortSum))
      return true;
    auto found = findLoops(producer);
    return found && isReadOnce(*found, loops.lookup(members.front()));
  }

  /// Of the users in the group.
  bool allUsersIn(Operation *op, const DenseSet<Operation *> &ops) {
    return llvm::all_of(op->getUsers(), [&](Operation *user) {
      return !set.contains(user) || ops.contains(user);
    });
  }

  bool fits(Operation *producer, const DenseSet<Operation *> &taken) {
    if (taken.contains(producer) || set.contains(producer) ||
        producer->getBlock() != members.front()->getBlock() ||
        staysOnHost(producer) ||
        (isa<stablehlo::TransposeOp>(producer) && transposes == maxTransposes))
      return false;
    if (!llvm::all_of(producer->getUsers(),
                      [&](Operation *user) { return set.contains(user); }))
      return false;
    // A contraction joins an epilogue that only maps its elements.
    if (isContraction(producer))
      return ((contractions.empty() && producer->getNumResults() == 1 &&
               allUsersIn(producer, epilogue)) ||
              sharesRows(producer)) &&
             !isReducedBefore(producer);
    // A product's operands are in memory, perhaps transposed, or widened where
    // they are multiplied.
    bool isFactor = llvm::any_of(producer->getUsers(), [&](Operation *user) {
      return isProduct(user) || factors.contains(user);
    });
    if (isFactor)
      return widening.contains(producer) ||
             (stablehlo::readsOnly(producer,
                                   Access::Permuted | Access::Reshaped) &&
              !isCopyForAll(producer));
    // All cores compute in a kernel of its own what one would compute here.
    if (((isReadWhole(producer) && !isView(producer)) ||
         isReadAtSeveralPlaces(producer)) &&
        !isSmallWork(estimateWork(producer), machine))
      return false;
    return (isMap(producer) || joinsMap(producer) || joinsPieces(producer) ||
            joinsPicked(producer) ||
            (listsPlaces(producer) && machine.blockThreads == 1)) &&
           (!isOfTable(producer) || isMovement(producer)) &&
           mayBeReadByRow(producer) && isReadOnceBySums(producer);
  }

  /// Sums of rows of which nothing else is made but a number for each are
  /// written to memory first, and one core would do that here.
  bool isReducedBefore(Operation *producer) {
    if (!stablehlo::getReducedRows(producer) || machine.blockThreads > 1 ||
        isSmallWork(estimateWork(producer), machine))
      return false;
    int64_t results = countKnown(producer->getResult(0));
    return results != 1 && allUsersIn(producer, epilogue) &&
           countKnown(members.front()->getResult(0)) == results;
  }

  /// All of it is in memory before: what a routine reads, perhaps through
  /// views, and what is read in another shape, whose indices would be divided.
  bool isReadWhole(Operation *op) {
    return llvm::any_of(op->getUses(),
                        [&](OpOperand &use) { return readsWhole(use); });
  }

  bool readsWhole(OpOperand &use) {
    Operation *user = use.getOwner();
    if (!set.contains(user))
      return false;
    Access access = stablehlo::getAccess(use);
    return wholes.contains(user) || access == Access::Whole ||
           (access == Access::Reshaped && !stablehlo::keepsDims(user));
  }

  /// Elements that are no movement are computed before, if several elements of
  /// a row or of the rows behind it read them: one core would write them all to
  /// memory first. In front of long rows each is computed once, and what comes
  /// of sums over the same rows stays with these.
  bool isReadAtSeveralPlaces(Operation *op) {
    if (machine.blockThreads > 1 || op->getNumResults() != 1 ||
        !stablehlo::isElementwise(op) ||
        stablehlo::getElementCost(op) <= Cost::Convert)
      return false;
    bool isMoved = false;
    for (OpOperand &use : op->getUses()) {
      isMoved |= stablehlo::getAccess(use) == Access::Moved;
      if (isRepeatedByRows(use))
        return true;
      if (isRepeatedInShortRow(use) &&
          (!contractions.empty() || !isMadeOfSums(op)))
        return true;
    }
    return isMoved && !op->hasOneUse();
  }

  /// Whether elements of a row stay neighbours, and some dimension in front of
  /// them is new.
  static bool isRepeatedByRows(OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<stablehlo::ReshapeOp>(user) && stablehlo::keepsDims(user))
      return llvm::any_of(user->getUses(), isRepeatedByRows);
    auto broadcast = dyn_cast<stablehlo::BroadcastInDimOp>(user);
    if (!broadcast)
      return false;
    auto from = cast<RankedTensorType>(broadcast.getOperand().getType());
    auto to = cast<RankedTensorType>(broadcast.getType());
    ArrayRef<int64_t> dims = broadcast.getBroadcastDimensions();
    return from.hasStaticShape() && to.hasStaticShape() && !dims.empty() &&
           from.getShape().back() > 1 && dims.back() + 1 == to.getRank() &&
           from.getNumElements() != to.getNumElements();
  }

  /// Whether a few neighbours of a row are the same element, and no loop over
  /// rows holds it.
  bool isRepeatedInShortRow(OpOperand &use) {
    int64_t times = countRepeatedInRow(use);
    return machine.blockThreads <= 1 && times > 1 &&
           times < getLongRow(use.get().getDefiningOp(), machine) &&
           (contractions.empty() || !getSharedRows(contractions.front()));
  }

  /// How many neighbours of a row are the same element.
  static int64_t countRepeatedInRow(OpOperand &use) {
    Operation *user = use.getOwner();
    int64_t times = 1;
    if (isa<stablehlo::ReshapeOp>(user) && stablehlo::keepsDims(user)) {
      for (OpOperand &next : user->getUses())
        times = std::max(times, countRepeatedInRow(next));
      return times;
    }
    auto broadcast = dyn_cast<stablehlo::BroadcastInDimOp>(user);
    if (!broadcast)
      return times;
    auto from = cast<RankedTensorType>(broadcast.getOperand().getType());
    auto to = cast<RankedTensorType>(broadcast.getType());
    ArrayRef<int64_t> dims = broadcast.getBroadcastDimensions();
    if (!from.hasStaticShape() || !to.hasStaticShape())
      return times;
    for (int64_t dim = to.getRank(); dim-- > 0;) {
      const int64_t *of = llvm::find(dims, dim);
      if (of != dims.end() && from.getDimSize(unsigned(of - dims.begin())) > 1)
        break;
      times *= to.getDimSize(static_cast<unsigned>(dim));
    }
    return times;
  }

  /// Whether elementwise operations make it of sums of rows.
  static bool isMadeOfSums(Operation *op) {
    constexpr size_t mostOps = 16;
    SmallVector<Operation *> ops{op};
    for (size_t i = 0; i < ops.size() && i < mostOps; ++i)
      for (Value operand : ops[i]->getOperands()) {
        Operation *producer = operand.getDefiningOp();
        if (!producer || llvm::is_contained(ops, producer))
          continue;
        if (stablehlo::getReducedRows(producer))
          return true;
        if (stablehlo::isElementwise(producer) || isView(producer))
          ops.push_back(producer);
      }
    return false;
  }

  /// A concatenation that is a piece of the root: its pieces are written in
  /// their places there.
  bool joinsPieces(Operation *producer) {
    return isa<stablehlo::ConcatenateOp>(producer) &&
           isa<stablehlo::ConcatenateOp>(members.front()) &&
           machine.blockThreads == 1 && producer->hasOneUse() &&
           isa<stablehlo::ConcatenateOp>(*producer->user_begin()) &&
           producer->getNumOperands() <= minPieces;
  }

  /// A gather whose elements the loops of a map read, each once.
  bool joinsPicked(Operation *producer) {
    return isa<stablehlo::GatherOp>(producer) && machine.blockThreads == 1 &&
           !isUnrolled && contractions.empty() && !transposes &&
           stablehlo::isElementwise(members.front()) &&
           allUsersIn(producer, epilogue);
  }

  /// Whether a gather reads it as a whole, which all workgroups would compute:
  /// it picks more elements than there are.
  bool isOfTable(Operation *producer) {
    return llvm::any_of(producer->getUses(), [&](OpOperand &use) {
      if (stablehlo::getAccess(use) != Access::Picked)
        return tables.contains(use.getOwner());
      int64_t all = countKnown(use.get()),
              picked = countKnown(use.getOwner()->getResult(0));
      return all < 0 || picked < 0 ||
             (picked > all && picked / manyPicks < all &&
              !isSmallWork(picked, machine));
    });
  }

  static int64_t countKnown(Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.hasStaticShape() ? type.getNumElements() : -1;
  }

  /// A concatenation that the loops of a map read without asking for each
  /// element which piece it is of: in the last dimension they end where pieces
  /// do, in others the place is found once for a row.
  bool joinsMap(Operation *producer) {
    auto concatenate = dyn_cast<stablehlo::ConcatenateOp>(producer);
    if (!concatenate || machine.blockThreads > 1 || isUnrolled ||
        !contractions.empty() || transposes ||
        !stablehlo::isElementwise(members.front()) ||
        !allUsersIn(producer, epilogue))
      return false;
    auto wrapped = stablehlo::findWrappedSlices(concatenate);
    if (!wrapped || wrapped->begins.size() > maxWrapped)
      return false;
    ArrayRef<int64_t> shape =
        cast<RankedTensorType>(concatenate.getType()).getShape();
    // Shorter rows are hardly more than their ends; the others are shared.
    return static_cast<int64_t>(concatenate.getDimension()) + 1 !=
               static_cast<int64_t>(shape.size()) ||
           (shape.back() >= 4 * machine.lanes &&
            ShapedType::getNumElements(shape.drop_back()) >= machine.cores);
  }

  /// Whether all workgroups would need a copy: dimensions that a transpose has
  /// moved and a reshape has made one have no stride in memory. A kernel of its
  /// own makes it on all cores, if the product is for more than one.
  bool isCopyForAll(Operation *producer) {
    if (!isa<stablehlo::TransposeOp>(producer) || contractions.empty() ||
        llvm::none_of(producer->getUsers(),
                      llvm::IsaPred<stablehlo::ReshapeOp>))
      return false;
    int64_t steps = estimateWork(contractions.front()) /
                    std::max<int64_t>(1, machine.lanes);
    return steps >= 2 * machine.workgroupSteps &&
           estimateWork(producer) > steps / leastReuse;
  }

  /// The rows that one loop may go over. Threads have to know sizes to share
  /// them.
  std::optional<ArrayRef<int64_t>> getSharedRows(Operation *op) {
    auto rows = stablehlo::getReducedRows(op);
    if (rows && machine.blockThreads > 1 &&
        !cast<RankedTensorType>(op->getOperand(0).getType()).hasStaticShape())
      return std::nullopt;
    return rows;
  }

  /// A producer that several loops over a row read must be row-wise too: it is
  /// kept in memory one row at a time.
  bool mayBeReadByRow(Operation *producer) {
    auto rows = contractions.empty() ? std::nullopt
                                     : getSharedRows(contractions.front());
    if (!rows || producer->hasOneUse())
      return true;
    return stablehlo::readsOnly(producer,
                                Access::Elementwise | Access::Repeated |
                                    Access::Reshaped | Access::Sizes) &&
           llvm::all_of(producer->getUses(), [&](OpOperand &use) {
             return stablehlo::keepsRows(use, *rows);
           });
  }

  /// Whether a row stays in the cache between loops over it, and there are rows
  /// for most cores. What only the call knows is taken for usual.
  bool hasFewColumns(Operation *reduce, ArrayRef<int64_t> rows) {
    auto type = cast<RankedTensorType>(reduce->getOperand(0).getType());
    bool areRowsKnown = !ShapedType::isDynamicShape(rows);
    ArrayRef<int64_t> columnSizes = type.getShape().drop_front(rows.size());
    bool areColumnsKnown = !ShapedType::isDynamicShape(columnSizes);
    int64_t numRows = areRowsKnown ? ShapedType::getNumElements(rows) : 0;
    int64_t columns =
        areColumnsKnown ? ShapedType::getNumElements(columnSizes) : 0;
    if (columns > getMaxColumns(machine))
      return false;
    return !areRowsKnown || numRows >= getMinRows(machine, columns) ||
           (areColumnsKnown && isSmallWork(type.getNumElements(), machine));
  }

  /// Whether one loop over rows can hold a reduction and all that follows it.
  bool sharesRows(Operation *reduce) {
    auto rows = getSharedRows(reduce);
    if (!rows || !llvm::all_of(contractions, [&](Operation *op) {
          return stablehlo::getReducedRows(op) == rows;
        }))
      return false;
    if (!hasFewColumns(reduce, *rows))
      return false;
    SmallVector<Operation *> followers{reduce};
    DenseSet<Operation *> seen;
    while (!followers.empty())
      for (OpOperand &use : followers.pop_back_val()->getUses()) {
        if (!set.contains(use.getOwner()))
          continue;
        if (!stablehlo::keepsRows(use, *rows))
          return false;
        if (seen.insert(use.getOwner()).second)
          followers.push_back(use.getOwner());
      }
    return true;
  }

  const MachineFacts &machine;
  SmallVector<Operation *> members, contractions;
  /// Operations on elements that the code has.
  int64_t codeOps = 0;
  int64_t transposes = 0;
  /// Whether a member is a short sum.
  bool isUnrolled = false;
  DenseSet<Operation *> set;
  /// Of the members whose elements are computed with those of the root.
  DenseMap<Operation *, LoopsOfDims> loops;
  /// Elementwise ops whose consumers in the group, up to the root, are all
  /// elementwise: add and maximum of maximum(dot(x, w) + b, 0).
  DenseSet<Operation *> epilogue;
  /// Ops on the path to a product's operand.
  DenseSet<Operation *> factors;
  /// What is read whole.
  DenseSet<Operation *> wholes;
  /// Those that widen one.
  DenseSet<Operation *> widening;
  /// What a gather reads as a whole.
  DenseSet<Operation *> tables;
};

/// What the workgroups of one launch compute without memory for what is
/// between.
void takeAttentions(Block &block, const MachineFacts &machine,
                    SmallVector<KernelGroup> &groups,
                    DenseSet<Operation *> &taken) {
  for (auto product : block.getOps<stablehlo::DotGeneralOp>()) {
    if (taken.contains(product))
      continue;
    auto attention = matchAttention(product, machine);
    if (!attention || llvm::any_of(attention->members, [&](Operation *op) {
          return taken.contains(op) || staysOnHost(op);
        }))
      continue;
    KernelGroup group;
    for (Operation *op : attention->members) {
      group.ops.push_back(op);
      group.codeOps += countElementOps(op);
      taken.insert(op);
    }
    groups.push_back(std::move(group));
  }
}
} // namespace

bool alula::dispatch::staysOnHost(Operation *op) {
  if (op->hasTrait<mlir::OpTrait::IsTerminator>() ||
      op->hasTrait<mlir::OpTrait::ConstantLike>() || !chlo::isTensorOp(op) ||
      hasEffects(op))
    return true;
  return stablehlo::isControlFlow(op) &&
         (!isSmallWork(estimateWork(op), getMachine(op)) || holdsEffects(op));
}

bool alula::dispatch::isKernelConstant(Value value) {
  constexpr int64_t maxElements = 64;
  auto constant = value.getDefiningOp<stablehlo::ConstantOp>();
  if (!constant)
    return false;
  auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
  auto elements = dyn_cast<ElementsAttr>(constant.getValue());
  if (elements && elements.isSplat())
    return true;
  return dense && dense.getNumElements() &&
         dense.getNumElements() <= maxElements &&
         !isa<ComplexType>(dense.getElementType());
}

SmallVector<KernelGroup> alula::dispatch::formKernelGroups(Block &block) {
  const MachineFacts machine = getMachine(block.getParentOp());
  SmallVector<KernelGroup> groups;
  DenseSet<Operation *> taken;
  takeAttentions(block, machine, groups, taken);
  // From the end, so that each op meets its consumers' groups first.
  for (Operation &op : llvm::reverse(block)) {
    if (staysOnHost(&op) || taken.contains(&op))
      continue;
    GroupBuilder builder(&op, machine);
    builder.grow(taken);
    groups.push_back(builder.take());
    taken.insert(groups.back().ops.begin(), groups.back().ops.end());
  }
  llvm::sort(groups, [](const KernelGroup &a, const KernelGroup &b) {
    return a.getLast()->isBeforeInBlock(b.getLast());
  });
  return groups;
}
