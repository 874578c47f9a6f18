// Which ops share a loop over rows, and where in it their results are.
//   %m = reduce %x, maximum   for each row:  m = maximum of x's row
//   %s = subtract %x, %m                     e = exp(x's row - m), kept
//   %e = exponential %s       →              s = sum of e
//   %t = reduce %e, add                      result's row = e / s
//   %r = divide %e, %t
// (Broadcasts are left out.) One value per row is an SSA value; what several
// loops over the columns read is a row-sized buffer, reduced in the loop that
// writes it, unless rematerialization is cheaper: x - mean is computed again.
// Where workgroups have threads, a row is that of lanes that move together:
// each keeps its columns of a row, if these are few, and else computes them
// again.

#include "compiler/kernel/plan/row_nests.h"

#include "compiler/kernel/element/associative.h"
#include "compiler/kernel/element/element_form.h"
#include "compiler/kernel/element/generators.h"
#include "compiler/kernel/plan/tiles.h"
#include "dialect/dispatch/machine.h"
#include "dialect/dispatch/rows.h"
#include "dialect/stablehlo/access.h"
#include "dialect/stablehlo/element_rules.h"
#include "dialect/stablehlo/ops.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace alula::kernel;
using alula::plan::Memory;

/// What only the call knows may be many.
static int64_t countColumns(Value tensor, ArrayRef<int64_t> rows) {
  ArrayRef<int64_t> columns = cast<RankedTensorType>(tensor.getType())
                                  .getShape()
                                  .drop_front(rows.size());
  return multiply(columns).value_or(INT64_MAX);
}

ArrayRef<int64_t> alula::kernel::getColumns(Value tensor, const RowNest &nest) {
  return cast<RankedTensorType>(tensor.getType())
      .getShape()
      .drop_front(nest.rows.size());
}

bool alula::kernel::hasOneColumn(Value tensor, const RowNest &nest) {
  return countColumns(tensor, nest.rows) == 1;
}

bool alula::kernel::fitsLanes(Value tensor, const RowNest &nest,
                              int64_t lanes) {
  constexpr int64_t mostBytes = 256;
  Type element = getElementType(tensor);
  int64_t parts = 1;
  if (auto complex = dyn_cast<ComplexType>(element)) {
    element = complex.getElementType();
    parts = 2;
  }
  Type type = element.isIntOrFloat() ? getMemoryType(element) : Type();
  if (!type)
    return false;
  int64_t bytes = parts * llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
  return lanes * mostBytes >= bytes * countColumns(tensor, nest.rows);
}

bool alula::kernel::isReadOutside(Operation *op, const RowNest &nest) {
  return llvm::any_of(op->getUsers(), [&](Operation *user) {
    return !nest.members.contains(user);
  });
}

bool alula::kernel::mayShareRows(Operation *op, ArrayRef<int64_t> rows) {
  if (op->hasTrait<mlir::OpTrait::ConstantLike>())
    return false;
  // Threads are given rows and columns of known sizes.
  bool hasThreads = dispatch::getMachine(op).blockThreads > 1;
  for (Value result : op->getResults()) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type || (hasThreads && !type.hasStaticShape()) ||
        type.getRank() < static_cast<int64_t>(rows.size()) ||
        type.getShape().take_front(rows.size()) != rows)
      return false;
  }
  if (auto reduced = stablehlo::getReducedRows(op))
    return *reduced == rows;
  return op->getNumRegions() == 0 && op->getNumResults() == 1 &&
         hasGenerator(op);
}

bool alula::kernel::mayShareColumns(
    Operation *op, ArrayRef<int64_t> rows,
    llvm::function_ref<bool(Operation *)> isOther) {
  int64_t lanes = dispatch::getMachine(op).lanes;
  auto reduce = dyn_cast<stablehlo::ReduceOp>(op);
  // Every lane has something to begin with.
  int64_t columns =
      countColumns(reduce ? reduce.getInputs()[0] : op->getResult(0), rows);
  if (reduce ? columns < lanes || !isSharedByLanes(op, reduce.getBody().front())
             : columns > 1 && columns < lanes)
    return false;
  return llvm::all_of(op->getOpOperands(), [&](OpOperand &use) {
    Operation *owner = use.get().getDefiningOp();
    if (!owner || !isOther(owner) || countColumns(use.get(), rows) == 1)
      return true;
    stablehlo::Access access = stablehlo::getAccess(use);
    return access == stablehlo::Access::Elementwise ||
           access == stablehlo::Access::Reduced;
  });
}

namespace {
/// Fewer rows that are longer are computed in parts by all threads.
constexpr int64_t manyRows = 1 << 10;

class MemoryPlanner {
  static constexpr unsigned mostReads = 1, mostOps = 2;

public:
  MemoryPlanner(RowNest &nest, const DenseSet<Operation *> &inlined,
                const alula::dispatch::MachineFacts &machine)
      : nest(nest), inlined(inlined), machine(machine) {}

  void plan() {
    for (Operation *op : nest.members)
      nest.memory[op] = findMemory(op);
    ArrayRef<Operation *> members = nest.members.getArrayRef();
    for (auto [k, op] : llvm::enumerate(members))
      if (!isa<stablehlo::ReduceOp>(op) && isKept(nest.memory[op]))
        if (Operation *reader =
                findReader(op->getResult(0), members.drop_front(k + 1)))
          nest.fused.insert(reader);
  }

private:
  static bool isKept(Memory memory) {
    return memory == Memory::Row || memory == Memory::Whole;
  }

  Memory findMemory(Operation *op) {
    if (hasOneColumn(op->getResult(0), nest))
      return Memory::Value;
    if (isReadOutside(op, nest))
      return Memory::Whole;
    if (inlined.contains(op))
      return Memory::Inline;
    bool fits = machine.blockThreads <= 1 ||
                fitsLanes(op->getResult(0), nest, machine.lanes);
    return isMadeAgain(op) || !fits ? Memory::Again : Memory::Row;
  }

  struct Work {
    unsigned reads, ops;
  };
  /// The cost of an element of `value` from memory and values of its row.
  Work countWork(Value value) {
    Operation *op = value.getDefiningOp();
    if (op && op->hasTrait<mlir::OpTrait::ConstantLike>() &&
        cast<ElementsAttr>(op->getAttr("value")).isSplat())
      return {0, 0};
    if (nest.members.contains(op) && hasOneColumn(value, nest))
      return {0, 0};
    bool isRead =
        !op || !(nest.members.contains(op) ? !isKept(nest.memory.lookup(op))
                                           : inlined.contains(op));
    return isRead ? Work{1, 0} : countOperands(op);
  }

  Work countOperands(Operation *op) {
    bool isFree = stablehlo::readsOnly(op, stablehlo::Access::Repeated |
                                               stablehlo::Access::Sizes);
    if (!isFree &&
        (!stablehlo::isElementwise(op) ||
         stablehlo::getElementCost(op) > stablehlo::Cost::Instruction))
      return {mostReads + 1, 0};
    Work work{0, isFree ? 0u : 1u};
    for (OpOperand &use : op->getOpOperands()) {
      if (stablehlo::getAccess(use) == stablehlo::Access::Sizes)
        continue;
      Work more = countWork(use.get());
      work.reads += more.reads;
      work.ops += more.ops;
      if (work.reads > mostReads || work.ops > mostOps)
        break;
    }
    return work;
  }

  /// What costs less than a store and a load, such as x - mean, is
  /// rematerialized in each loop that reads it.
  bool isMadeAgain(Operation *op) {
    Work work = countOperands(op);
    return work.reads <= mostReads && work.ops <= mostOps;
  }

  /// A reduction of just `result` that comes next: it can share the loop.
  Operation *findReader(Value result, ArrayRef<Operation *> after) {
    for (Operation *op : after) {
      auto reduce = dyn_cast<stablehlo::ReduceOp>(op);
      if (reduce && reduce.getInputs().size() == 1 &&
          reduce.getInputs()[0] == result &&
          !nest.members.contains(reduce.getInitValues()[0].getDefiningOp()))
        return reduce;
      if (reduce || !inlined.contains(op))
        return nullptr;
    }
    return nullptr;
  }

  RowNest &nest;
  const DenseSet<Operation *> &inlined;
  const alula::dispatch::MachineFacts &machine;
};

class Planner {
public:
  Planner(Block &block, const DenseSet<Operation *> &inlined,
          const Epilogues &epilogues, const Attentions &attentions)
      // What belongs to a product is lowered with it.
      : block(block), inlined(inlined),
        machine(alula::dispatch::getMachine(block.getParentOp())) {
    for (auto [op, owner] : epilogues.ownerOf)
      taken.insert(op);
    for (auto [op, number] : attentions.numberOf)
      taken.insert(op);
  }

  RowNests plan() {
    // One thread for a whole row would leave most of them without work.
    if (machine.blockThreads > 1 && machine.lanes == 1)
      return RowNests();
    SmallVector<Operation *> reductions;
    for (Operation &op : block)
      if (stablehlo::getReducedRows(&op))
        reductions.push_back(&op);
    RowNests nests;
    for (Operation *reduction : reductions) {
      if (taken.contains(reduction) || !isForRows(reduction))
        continue;
      RowNest nest = grow(reduction);
      if (!isWorthIt(nest))
        continue;
      for (Operation *op : nest.members) {
        taken.insert(op);
        nests.numberOf[op] = nests.all.size();
      }
      MemoryPlanner(nest, inlined, machine).plan();
      nests.all.push_back(std::move(nest));
    }
    return nests;
  }

private:
  bool isForRows(Operation *reduction) {
    if (machine.blockThreads <= 1)
      return true;
    ArrayRef<int64_t> rows = *stablehlo::getReducedRows(reduction);
    if (!cast<RankedTensorType>(reduction->getOperand(0).getType())
             .hasStaticShape())
      return false;
    return mayShareColumns(reduction, rows,
                           [](Operation *) { return false; }) &&
           (ShapedType::getNumElements(rows) >= manyRows ||
            countColumns(reduction->getOperand(0), rows) <=
                alula::dispatch::getMostSharedColumns(machine));
  }

  RowNest grow(Operation *reduction) {
    RowNest nest;
    nest.rows = llvm::to_vector(*stablehlo::getReducedRows(reduction));
    DenseSet<Operation *> members{reduction}, after;
    auto isMember = [&](Operation *op) { return members.contains(op); };
    auto readsAny = [](Operation *op, const DenseSet<Operation *> &ops) {
      return op
          ->walk([&](Operation *inner) {
            for (Value operand : inner->getOperands())
              if (ops.contains(operand.getDefiningOp()))
                return WalkResult::interrupt();
            return WalkResult::advance();
          })
          .wasInterrupted();
    };
    // Readers, then what only members read.
    for (Operation *op = reduction->getNextNode();
         op && !op->hasTrait<mlir::OpTrait::IsTerminator>();
         op = op->getNextNode()) {
      bool needsAfter = readsAny(op, after);
      if (!needsAfter && !readsAny(op, members))
        continue;
      bool joins = !needsAfter && mayJoin(op, nest, isMember) &&
                   llvm::all_of(op->getOpOperands(), [&](OpOperand &use) {
                     return !members.contains(use.get().getDefiningOp()) ||
                            stablehlo::keepsRows(use, nest.rows);
                   });
      (joins ? members : after).insert(op);
    }
    for (Operation &op : llvm::reverse(block))
      if (!members.contains(&op) && !op.use_empty() && op.getNumOperands() &&
          mayJoin(&op, nest, isMember) &&
          llvm::all_of(op.getUses(), [&](OpOperand &use) {
            Operation *reader = use.getOwner();
            return members.contains(reader) &&
                   stablehlo::keepsRows(use, nest.rows) &&
                   isSharedWith(reader, nest, [&](Operation *other) {
                     return other == &op || members.contains(other);
                   });
          }))
        members.insert(&op);
    Operation *last = nullptr;
    for (Operation &op : block)
      if (members.contains(&op)) {
        nest.members.insert(&op);
        last = &op;
      }
    // What has to come after the nest does so.
    Operation *position = last;
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (&op == last)
        break;
      if (!after.contains(&op))
        continue;
      op.moveAfter(position);
      position = &op;
    }
    return nest;
  }

  bool mayJoin(Operation *op, const RowNest &nest,
               llvm::function_ref<bool(Operation *)> isMember) {
    return !taken.contains(op) && mayShareRows(op, nest.rows) &&
           isSharedWith(op, nest, isMember);
  }

  bool isSharedWith(Operation *op, const RowNest &nest,
                    llvm::function_ref<bool(Operation *)> isMember) {
    return machine.blockThreads <= 1 ||
           mayShareColumns(op, nest.rows, isMember);
  }

  /// If rows are kept, or read again after they have been reduced.
  bool isWorthIt(const RowNest &nest) {
    return llvm::any_of(nest.members, [&](Operation *op) {
      if (hasOneColumn(op->getResult(0), nest))
        return false;
      return !inlined.contains(op) ||
             llvm::any_of(op->getOperands(), [&](Value operand) {
               return nest.members.contains(operand.getDefiningOp()) &&
                      hasOneColumn(operand, nest);
             });
    });
  }

  Block &block;
  const DenseSet<Operation *> &inlined;
  const alula::dispatch::MachineFacts machine;
  DenseSet<Operation *> taken;
};
} // namespace

RowNests alula::kernel::planRowNests(Block &block,
                                     const DenseSet<Operation *> &inlined,
                                     const Epilogues &epilogues,
                                     const Attentions &attentions) {
  return Planner(block, inlined, epilogues, attentions).plan();
}
