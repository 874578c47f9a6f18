// Producers are recomputed in their consumers' loops. A value's site is the
// loop nest that reads it; with one site that reads each element once, it is
// inlined. Short sums read each element of an operand for several elements of
// theirs: where those are unrolled, or are in other dimensions than the loops,
// each is computed once all the same. What widens an operand of a product that
// is read in blocks is inlined too, and what the innermost loop doesn't change:
// it is computed once for all its rounds.

#include "compiler/kernel/plan/inline_plan.h"

#include "compiler/kernel/element/generators.h"
#include "compiler/kernel/plan/forms.h"
#include "compiler/kernel/plan/tensors_in_memory.h"
#include "dialect/dispatch/machine.h"
#include "dialect/dispatch/rows.h"
#include "dialect/dispatch/short_sum.h"
#include "dialect/stablehlo/access.h"
#include "dialect/stablehlo/element_rules.h"
#include "dialect/stablehlo/ops.h"
#include "dialect/stablehlo/widened_factor.h"

using namespace mlir;
using namespace alula::kernel;
using alula::dispatch::getLoopsOfDims;
using alula::dispatch::isReadOnce;
using alula::dispatch::isShortSum;
using alula::dispatch::LoopsOfDims;
using stablehlo::Access;

namespace {
/// To read so many rows of numbers, of which each holds one that is wanted, is
/// cheaper than to copy those and read the copy.
constexpr int64_t mostApart = 4;

int64_t countElements(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() ? type.getNumElements() : -1;
}

/// Whether places in other operands are numbers, or each is that of one
/// element: those of whole slices and windows are read in several loops.
bool readsIndicesOnce(Operation *op, Value indices) {
  if (auto gather = dyn_cast<stablehlo::GatherOp>(op))
    return llvm::all_of(gather.getSliceSizes(),
                        [](int64_t size) { return size == 1; });
  if (auto scatter = dyn_cast<stablehlo::ScatterOp>(op))
    return scatter.getScatterDimensionNumbers().getUpdateWindowDims().empty();
  return countElements(indices) == 1;
}

/// Reads each element of an operand at most once, in some order.
bool readsOnce(OpOperand &use) {
  Operation *op = use.getOwner();
  // Of what a loop carries it changes a part in place: the update is there
  // before.
  if (isa<stablehlo::DynamicUpdateSliceOp>(op))
    return false;
  switch (stablehlo::getAccess(use)) {
  case Access::Permuted:
  case Access::Moved:
  case Access::Part:
  case Access::Fill:
  case Access::Sizes:
  case Access::Updated:
  case Access::Scattered:
  case Access::Reduced:
  case Access::Sorted:
    return true;
  case Access::Indices:
    return readsIndicesOnce(op, use.get());
  case Access::Picked: {
    // Perhaps some twice, but no more than there are.
    int64_t picked = countElements(op->getResult(0));
    return picked >= 0 && picked <= countElements(use.get());
  }
  case Access::Repeated:
    return countElements(use.get()) != -1 &&
           countElements(use.get()) == countElements(op->getResult(0));
  case Access::Reshaped:
    return stablehlo::keepsDims(op);
  default:
    return false;
  }
}

/// Better written part by part, or as a copy, than element by element.
bool isMadeOfParts(Operation *op) {
  return stablehlo::readsAny(op,
                             Access::Part | Access::Fill | Access::Reshaped);
}

/// The last dimension of more than one element; -1: none.
int64_t getInnermost(Value tensor) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(tensor.getType()).getShape();
  auto dim = static_cast<int64_t>(shape.size()) - 1;
  while (dim >= 0 && shape[static_cast<size_t>(dim)] == 1)
    --dim;
  return dim;
}

/// How far in memory neighbours of a slice's dimension are, if that is known.
int64_t getDistance(stablehlo::SliceOp slice, int64_t dim) {
  int64_t distance = slice.getStrides()[static_cast<size_t>(dim)];
  for (int64_t size : cast<RankedTensorType>(slice.getOperand().getType())
                          .getShape()
                          .drop_front(static_cast<size_t>(dim) + 1))
    distance *= ShapedType::isDynamic(size) ? mostApart + 1 : size;
  return distance;
}

/// A slice of memory that lies in memory as neighbours do, or nearly so: points
/// of a few coordinates, one of which is read.
bool isRowOfMemory(Value tensor, const DenseSet<Operation *> &inlined) {
  if (isInMemory(tensor, inlined))
    return true;
  Operation *op = tensor.getDefiningOp();
  if (auto slice = dyn_cast<stablehlo::SliceOp>(op)) {
    int64_t dim = getInnermost(tensor);
    if (dim >= 0 && getDistance(slice, dim) > mostApart)
      return false;
  } else if (!stablehlo::readsAny(op, Access::Reshaped) ||
             !stablehlo::keepsDims(op)) {
    return false;
  }
  return isRowOfMemory(op->getOperand(0), inlined);
}

/// Whether such a slice in another shape is read element by element.
bool isCheapReshape(Operation *op, const DenseSet<Operation *> &inlined) {
  Operation *source = stablehlo::readsAny(op, Access::Reshaped)
                          ? op->getOperand(0).getDefiningOp()
                          : nullptr;
  return source && inlined.contains(source) && stablehlo::keepsDims(op) &&
         isRowOfMemory(op->getOperand(0), inlined) &&
         llvm::all_of(op->getUses(), [](OpOperand &use) {
           Access access = stablehlo::getAccess(use);
           return access == Access::Elementwise || access == Access::Repeated;
         });
}

/// Rematerialization costs no more than a load.
bool isCheap(Operation *op, const DenseSet<Operation *> &inlined) {
  if (isCheapReshape(op, inlined))
    return true;
  if (stablehlo::getElementCost(op) > stablehlo::Cost::Convert ||
      !stablehlo::readsOnly(op, Access::Elementwise | Access::Permuted |
                                    Access::Moved | Access::Repeated |
                                    Access::Sizes | Access::Unread))
    return false;
  return llvm::all_of(op->getOpOperands(), [&](OpOperand &use) {
    Access access = stablehlo::getAccess(use);
    Operation *source = use.get().getDefiningOp();
    return access == Access::Sizes || access == Access::Unread || !source ||
           source->getBlock() != op->getBlock() ||
           countElements(use.get()) == 1 || !inlined.contains(source) ||
           (stablehlo::readsAny(source, Access::Reshaped) &&
            isRowOfMemory(use.get(), inlined));
  });
}

/// Whether an element may be computed in front of the loop over a row.
bool mayBeOfRow(Operation *op) {
  if (op->getNumResults() != 1 ||
      !stablehlo::readsOnly(
          op, Access::Elementwise | Access::Permuted | Access::Moved |
                  Access::Repeated | Access::Reshaped | Access::Picked |
                  Access::Part | Access::Indices | Access::Unread))
    return false;
  return !stablehlo::readsAny(op, Access::Reshaped) || stablehlo::keepsDims(op);
}

class Planner {
public:
  explicit Planner(Block &block) : block(block) {}

  DenseSet<Operation *> plan() {
    // Consumers first. What an op's producers will be is not known yet, so
    // cheapness is asked again from the front.
    for (Operation &op : llvm::reverse(block.without_terminator()))
      if (hasGenerator(&op)) {
        sites[&op] = findSite(&op);
        planReading(&op);
        planRowReading(&op);
      }
    DenseSet<Operation *> widening = collectWidening();
    DenseSet<Operation *> inlined;
    DenseMap<Operation *, unsigned> depths;
    for (Operation &op : block.without_terminator()) {
      // Which constants are numbers in the code is said where they are lowered.
      if (!hasGenerator(&op) || isa<stablehlo::ConstantOp>(op))
        continue;
      unsigned depth = 0;
      for (Value operand : op.getOperands())
        depth = std::max(depth, depths.lookup(operand.getDefiningOp()) + 1);
      if (widening.contains(&op) ||
          ((sites.lookup(&op) || ofRows.contains(&op)) &&
           depth < maxInlineDepth) ||
          isCheap(&op, inlined)) {
        inlined.insert(&op);
        depths[&op] = depth;
      }
    }
    return inlined;
  }

private:
  DenseSet<Operation *> collectWidening() {
    DenseSet<Operation *> all;
    for (Operation &op : block.without_terminator())
      if (isa<stablehlo::DotGeneralOp>(op) && worksInBlocks(&op))
        for (OpOperand &factor : op.getOpOperands())
          for (Operation *step : stablehlo::findWidening(factor))
            all.insert(step);
    return all;
  }

  /// Null for several sites, or one that reads elements more than once.
  Operation *findSite(Operation *op) {
    Operation *site = nullptr;
    for (OpOperand &use : op->getResult(0).getUses()) {
      Operation *found = findSiteOfUse(use);
      if (!found || (site && site != found))
        return nullptr;
      site = found;
    }
    return site;
  }

  Operation *findSiteOfUse(OpOperand &use) {
    Operation *user = use.getOwner();
    if (user->getBlock() != &block)
      return nullptr;
    // Values of one shape are returned by one nest of loops. What is made of
    // parts is better written part by part.
    if (user == block.getTerminator())
      return isMadeOfParts(use.get().getDefiningOp()) ? nullptr : user;
    // An op that is materialized is its own site.
    if (stablehlo::keepsIndices(user))
      return sites.lookup(user) ? sites.lookup(user) : user;
    // Elements of one op at two different indices are computed twice; a chain
    // of such ops would take exponentially many.
    return readsOnce(use) && llvm::count(user->getOperands(), use.get()) == 1
               ? user
               : nullptr;
  }

  /// In which loops the elements of an op are computed.
  struct Reading {
    Operation *site;
    /// The sizes of these loops, and which dimension each is an index of.
    ArrayRef<int64_t> sizes;
    LoopsOfDims written, loops;
    /// Whether a short sum is on the way, or a slice.
    bool isOfSum = false, isOfPart = false;

    bool operator==(const Reading &other) const {
      return site == other.site && sizes == other.sizes && loops == other.loops;
    }
  };

  static ArrayRef<int64_t> getSizes(Value tensor) {
    return cast<RankedTensorType>(tensor.getType()).getShape();
  }

  /// Of a tensor that gets memory.
  static Reading makeReading(Operation *site, Value written) {
    LoopsOfDims loops = getLoopsOfDims(written);
    return {site, getSizes(written), loops, loops};
  }

  std::optional<Reading> findReading(OpOperand &use) {
    Operation *user = use.getOwner();
    if (user->getBlock() != &block)
      return std::nullopt;
    if (user == block.getTerminator()) {
      if (isMadeOfParts(use.get().getDefiningOp()))
        return std::nullopt;
      return makeReading(user, use.get());
    }
    if (!hasGenerator(user))
      return std::nullopt;
    auto found = readings.find(user);
    if (sites.lookup(user) && found == readings.end())
      return std::nullopt;
    Reading reading = found == readings.end()
                          ? makeReading(user, user->getResult(0))
                          : found->second;
    auto loops = getLoopsOfDims(use, reading.loops);
    if (!loops)
      return std::nullopt;
    reading.loops = std::move(*loops);
    reading.isOfSum |= isShortSum(user);
    return reading;
  }

  /// Where all who read an op do so in the same loops, once.
  void planReading(Operation *op) {
    std::optional<Reading> common;
    bool isOfSum = false;
    for (OpOperand &use : op->getResult(0).getUses()) {
      auto reading = findReading(use);
      if (!reading || (common && !(*common == *reading)))
        return;
      isOfSum |= reading->isOfSum;
      common = std::move(reading);
    }
    if (!common || !isReadOnce(common->loops, common->written))
      return;
    common->isOfSum = isOfSum;
    if (isOfSum && !sites.lookup(op))
      sites[op] = common->site;
    if (sites.lookup(op))
      readings[op] = std::move(*common);
  }

  /// The same with what is read at other indices: for these, it counts in which
  /// loops they change.
  std::optional<LoopsOfDims> getLoops(OpOperand &use,
                                      const LoopsOfDims &loops) {
    Operation *user = use.getOwner();
    if (auto found = getLoopsOfDims(use, loops))
      return found;
    if (auto slice = dyn_cast<stablehlo::SliceOp>(user)) {
      LoopsOfDims ofOperand = loops;
      for (auto [loop, size] :
           llvm::zip_equal(ofOperand, getSizes(slice.getResult())))
        if (size == 1)
          loop = alula::dispatch::unrolled;
      return ofOperand;
    }
    // A list of places: each number is read, known by its own.
    if (auto concatenate = dyn_cast<stablehlo::ConcatenateOp>(user))
      return isUnrolled(concatenate, loops) ? std::optional(loops)
                                            : std::nullopt;
    auto gather = dyn_cast<stablehlo::GatherOp>(user);
    if (!gather || use.getOperandNumber() != 1)
      return std::nullopt;
    // Dimensions of the result that are no slice's, in order.
    auto numbers = gather.getDimensionNumbers();
    LoopsOfDims ofIndices;
    for (auto [dim, loop] : llvm::enumerate(loops))
      if (!llvm::is_contained(numbers.getOffsetDims(),
                              static_cast<int64_t>(dim)))
        ofIndices.push_back(loop);
    auto vector = static_cast<size_t>(numbers.getIndexVectorDim());
    if (vector <= ofIndices.size() &&
        ofIndices.size() < getSizes(use.get()).size())
      ofIndices.insert(ofIndices.begin() + vector, alula::dispatch::unrolled);
    return ofIndices;
  }

  static bool isUnrolled(stablehlo::ConcatenateOp concatenate,
                         const LoopsOfDims &loops) {
    return loops[static_cast<size_t>(concatenate.getDimension())] ==
           alula::dispatch::unrolled;
  }

  std::optional<Reading> findRowReading(OpOperand &use) {
    Operation *user = use.getOwner();
    if (user->getBlock() != &block)
      return std::nullopt;
    if (user == block.getTerminator())
      return makeReading(user, use.get());
    if (!hasGenerator(user))
      return std::nullopt;
    auto found = rowReadings.find(user);
    if (found == rowReadings.end() &&
        (sites.lookup(user) ||
         !isa<RankedTensorType>(user->getResult(0).getType())))
      return std::nullopt;
    Reading reading = found == rowReadings.end()
                          ? makeReading(user, user->getResult(0))
                          : found->second;
    auto loops = getLoops(use, reading.loops);
    if (!loops)
      return std::nullopt;
    reading.loops = std::move(*loops);
    reading.isOfPart |= isa<stablehlo::SliceOp>(user);
    return reading;
  }

  /// Where all who read an op do so in the same loops, and whether it stays the
  /// same in all rounds of the innermost one.
  void planRowReading(Operation *op) {
    const alula::dispatch::MachineFacts machine =
        alula::dispatch::getMachine(op);
    if (machine.blockThreads > 1)
      return;
    // Two parts are at two indices: chains would take exponentially many.
    bool hasOneUse = op->getResult(0).hasOneUse();
    std::optional<Reading> common;
    for (OpOperand &use : op->getResult(0).getUses()) {
      auto reading = findRowReading(use);
      if (!reading || (common && !(*common == *reading)) ||
          (!hasOneUse && reading->isOfPart))
        return;
      common = std::move(reading);
    }
    if (!common)
      return;
    auto concatenate = dyn_cast<stablehlo::ConcatenateOp>(op);
    bool isOfRow =
        !sites.lookup(op) && mayBeOfRow(op) &&
        (!concatenate || isUnrolled(concatenate, common->loops)) &&
        isSameInRow(*common, alula::dispatch::getLongRow(op, machine));
    if (isOfRow)
      ofRows.insert(op);
    if (isOfRow || sites.lookup(op))
      rowReadings[op] = std::move(*common);
  }

  /// Whether the innermost loop has many rounds and changes no index.
  static bool isSameInRow(const Reading &reading, int64_t manyRounds) {
    for (size_t dim = reading.sizes.size(); dim-- > 0;)
      if (int64_t loop = reading.written[dim];
          loop != alula::dispatch::unrolled)
        return reading.sizes[dim] >= manyRounds &&
               !llvm::is_contained(reading.loops, loop);
    return false;
  }

  Block &block;
  DenseMap<Operation *, Operation *> sites;
  DenseMap<Operation *, Reading> readings, rowReadings;
  /// Those that are computed once for the rounds of the innermost loop.
  DenseSet<Operation *> ofRows;
};
} // namespace

DenseSet<Operation *> alula::kernel::planInlining(Block &block) {
  return Planner(block).plan();
}
