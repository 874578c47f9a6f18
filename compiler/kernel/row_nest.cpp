// Which ops share a loop over rows, and that loop.
//   %m = reduce %x, maximum   for each row:  m = maximum of x's row
//   %s = subtract %x, %m                     e = exp(x's row - m), kept
//   %e = exponential %s       →              s = sum of e
//   %t = reduce %e, add                      result's row = e / s
//   %r = divide %e, %t
// (Broadcasts are left out.) What has one value for each row stays a value;
// what several loops over the columns read is kept for one row, and summed up
// in the loop that makes it, unless it is little work: x - mean is done again.

#include "compiler/kernel/row_nest.h"

#include "compiler/kernel/lowering.h"
#include "compiler/kernel/reduction.h"
#include "dialect/stablehlo/element_rules.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace alula::kernel;

namespace {
/// The sizes of a tensor behind those that count rows.
ArrayRef<int64_t> getColumns(Value tensor, const RowNest &nest) {
  return cast<RankedTensorType>(tensor.getType())
      .getShape()
      .drop_front(nest.rows.size());
}

bool hasOneColumn(Value tensor, const RowNest &nest) {
  return ShapedType::getNumElements(getColumns(tensor, nest)) == 1;
}

class Planner {
public:
  Planner(Block &block, const DenseSet<Operation *> &inlined,
          const Epilogues &epilogues)
      // What belongs to a product is lowered with it.
      : block(block), inlined(inlined), taken(epilogues.members) {}

  RowNests plan() {
    SmallVector<Operation *> reductions;
    for (Operation &op : block)
      if (stablehlo::getReducedRows(&op))
        reductions.push_back(&op);
    RowNests nests;
    for (Operation *reduction : reductions) {
      if (taken.contains(reduction))
        continue;
      RowNest nest = grow(reduction);
      if (!isWorthIt(nest))
        continue;
      for (Operation *op : nest.members) {
        taken.insert(op);
        nests.numberOf[op] = nests.all.size();
      }
      nests.all.push_back(std::move(nest));
    }
    return nests;
  }

private:
  RowNest grow(Operation *reduction) {
    RowNest nest;
    nest.rows = llvm::to_vector(*stablehlo::getReducedRows(reduction));
    DenseSet<Operation *> members{reduction}, after;
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
      bool joins = !needsAfter && mayJoin(op, nest) &&
                   llvm::all_of(op->getOpOperands(), [&](OpOperand &use) {
                     return !members.contains(use.get().getDefiningOp()) ||
                            stablehlo::keepsRows(use, nest.rows);
                   });
      (joins ? members : after).insert(op);
    }
    for (Operation &op : llvm::reverse(block))
      if (!members.contains(&op) && !op.use_empty() && op.getNumOperands() &&
          mayJoin(&op, nest) && llvm::all_of(op.getUses(), [&](OpOperand &use) {
            return members.contains(use.getOwner()) &&
                   stablehlo::keepsRows(use, nest.rows);
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

  bool mayJoin(Operation *op, const RowNest &nest) {
    if (taken.contains(op) || op->hasTrait<mlir::OpTrait::ConstantLike>())
      return false;
    for (Value result : op->getResults()) {
      auto type = dyn_cast<RankedTensorType>(result.getType());
      if (!type || !type.hasStaticShape() ||
          type.getRank() < static_cast<int64_t>(nest.rows.size()) ||
          type.getShape().take_front(nest.rows.size()) != ArrayRef(nest.rows))
        return false;
    }
    if (auto rows = stablehlo::getReducedRows(op))
      return *rows == ArrayRef(nest.rows);
    return op->getNumRegions() == 0 && op->getNumResults() == 1 &&
           findLowering(op).generate;
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
  DenseSet<Operation *> taken;
};

class NestEmitter {
  static constexpr unsigned mostReads = 1, mostOps = 2;

public:
  NestEmitter(const RowNest &nest, const DenseSet<Operation *> &inlined,
              Lowering &lowering)
      : nest(nest), inlined(inlined), lowering(lowering) {}

  void emit() {
    for (Operation *op : nest.members)
      for (Value result : op->getResults())
        prepare(op, result);
    lowering.forEach(getSizes(nest.rows), [&](ValueRange row) {
      ArrayRef<Operation *> members = nest.members.getArrayRef();
      for (auto [k, op] : llvm::enumerate(members)) {
        lowering.b.setLoc(op->getLoc());
        auto reduce = dyn_cast<stablehlo::ReduceOp>(op);
        if (!reduce)
          emitElements(op->getResult(0), row, members.drop_front(k + 1));
        else if (!reducedAtOnce.contains(op))
          emitReduction(reduce, row, Value());
      }
    });
    for (auto [result, buffer] : outside)
      lowering.setBuffer(result, buffer);
  }

private:
  SmallVector<Value> getSizes(ArrayRef<int64_t> sizes) {
    return llvm::map_to_vector(
        sizes, [&](int64_t size) { return lowering.index(size); });
  }

  SmallVector<Value> join(ValueRange row, ValueRange columns) {
    SmallVector<Value> indices(row);
    llvm::append_range(indices, columns);
    return indices;
  }

  /// Memory for what is read outside of the nest or in several loops.
  void prepare(Operation *op, Value result) {
    if (llvm::any_of(result.getUsers(), [&](Operation *user) {
          return !nest.members.contains(user);
        }))
      outside[result] = lowering.createResult(result);
    else if (!hasOneColumn(result, nest) && !inlined.contains(op) &&
             !isMadeAgain(op))
      kept[result] = createRow(result);
  }

  struct Work {
    unsigned reads, ops;
  };
  /// To compute an element of `value` from what is in memory or known of its row.
  Work countWork(Value value) {
    Operation *op = value.getDefiningOp();
    if (op && op->hasTrait<mlir::OpTrait::ConstantLike>() &&
        op->getAttr("value").cast<ElementsAttr>().isSplat())
      return {0, 0};
    if (nest.members.contains(op) && hasOneColumn(value, nest))
      return {0, 0};
    bool isKept = !op || !(nest.members.contains(op) ? !findBuffer(value)
                                                     : inlined.contains(op));
    return isKept ? Work{1, 0} : countOperands(op);
  }

  Work countOperands(Operation *op) {
    bool isFree = isa<stablehlo::BroadcastInDimOp>(op);
    if (!isFree &&
        !isa<stablehlo::AddOp, stablehlo::SubtractOp, stablehlo::MulOp,
             stablehlo::NegOp, stablehlo::ConvertOp>(op))
      return {mostReads + 1, 0};
    Work work{0, isFree ? 0u : 1u};
    for (Value operand : op->getOperands()) {
      Work more = countWork(operand);
      work.reads += more.reads;
      work.ops += more.ops;
      if (work.reads > mostReads || work.ops > mostOps)
        break;
    }
    return work;
  }

  /// What takes less than to write and to read it, such as x - mean, is computed
  /// by each loop that reads it.
  bool isMadeAgain(Operation *op) {
    Work work = countOperands(op);
    return work.reads <= mostReads && work.ops <= mostOps;
  }

  /// One row, as which every row of a tensor is seen.
  Value createRow(Value tensor) {
    SmallVector<Value> columns = getSizes(getColumns(tensor, nest));
    auto type = cast<RankedTensorType>(tensor.getType());
    Value row =
        lowering.createTemporary(columns, getMemoryType(type.getElementType()));
    // A stride of zero can be computed with, but a type that says so can't be
    // read back.
    SmallVector<int64_t> typeStrides(nest.rows.size(), ShapedType::kDynamic);
    SmallVector<OpFoldResult> sizes,
        strides(nest.rows.size(), lowering.index(0));
    for (Value stride : lowering.getStrides(columns)) {
      typeStrides.push_back(*getConstantIntValue(stride));
      strides.push_back(lowering.b.getIndexAttr(typeStrides.back()));
    }
    for (int64_t size : type.getShape())
      sizes.push_back(lowering.b.getIndexAttr(size));
    auto view = MemRefType::get(
        type.getShape(), cast<MemRefType>(row.getType()).getElementType(),
        StridedLayoutAttr::get(type.getContext(), 0, typeStrides));
    return lowering.b.create<memref::ReinterpretCastOp>(
        view, row, /*offset=*/lowering.b.getIndexAttr(0), sizes, strides);
  }

  /// What sums up just the elements of `result`, and comes next.
  stablehlo::ReduceOp findReader(Value result, ArrayRef<Operation *> after) {
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

  /// `stored` is the input, if its elements get their memory here.
  void emitReduction(stablehlo::ReduceOp reduce, ValueRange row, Value stored) {
    Reduction reduction(reduce, reduce.getBody().front(), reduce.getInputs(),
                        reduce.getInitValues(), lowering);
    SmallVector<Value> state = lowering.fold(
        getSizes(getColumns(reduce.getInputs()[0], nest)),
        reduction.getInitial(), [&](ValueRange columns, ValueRange carried) {
          if (stored)
            emitElement(stored, join(row, columns));
          return reduction.append(carried, join(row, columns));
        });
    for (auto [result, value] :
         llvm::zip_equal(reduce.getResults(), reduction.finish(state)))
      setRowValue(result, value, row);
  }

  void setRowValue(Value result, Value value, ValueRange indices) {
    lowering.setScalar(result, value);
    if (Value buffer = outside.lookup(result))
      lowering.store(value, getElementType(result), buffer, indices);
  }

  Value findBuffer(Value result) {
    Value buffer = outside.lookup(result);
    return buffer ? buffer : kept.lookup(result);
  }

  /// Who reads the element behind this finds it where it is kept.
  void emitElement(Value result, ValueRange indices) {
    lowering.setInlined(result);
    Value buffer = findBuffer(result);
    lowering.store(lowering.getElement(result, indices), getElementType(result),
                   buffer, indices);
    lowering.setBuffer(result, buffer);
  }

  void emitElements(Value result, ValueRange row, ArrayRef<Operation *> after) {
    ArrayRef<int64_t> columns = getColumns(result, nest);
    lowering.setInlined(result);
    if (hasOneColumn(result, nest)) {
      SmallVector<Value> first(columns.size(), lowering.index(0));
      SmallVector<Value> indices = join(row, first);
      return setRowValue(result, lowering.getElement(result, indices), indices);
    }
    if (!findBuffer(result))
      return;
    if (stablehlo::ReduceOp reader = findReader(result, after)) {
      reducedAtOnce.insert(reader);
      emitReduction(reader, row, result);
    } else {
      lowering.forEach(getSizes(columns), [&](ValueRange inner) {
        emitElement(result, join(row, inner));
      });
    }
    lowering.setBuffer(result, findBuffer(result));
  }

  const RowNest &nest;
  const DenseSet<Operation *> &inlined;
  Lowering &lowering;
  llvm::MapVector<Value, Value> outside;
  DenseMap<Value, Value> kept;
  DenseSet<Operation *> reducedAtOnce;
};
} // namespace

RowNests alula::kernel::planRowNests(Block &block,
                                     const DenseSet<Operation *> &inlined,
                                     const Epilogues &epilogues) {
  return Planner(block, inlined, epilogues).plan();
}

void alula::kernel::emitRowNest(const RowNest &nest,
                                const DenseSet<Operation *> &inlined,
                                Lowering &lowering) {
  NestEmitter(nest, inlined, lowering).emit();
}
