// The loop over rows that several ops share (compiler/kernel/plan/row_nests.h),
// as one launch: each row is a warp's, whose lanes share the columns.
// Neighbouring lanes have neighbours, and the same ones in every loop over
// columns: what a lane computed it may read again, from memory of its own, or
// from registers where its columns are few. Values for each row are in
// registers of all lanes.

#include "compiler/target/cuda/kernel/warp_nest.h"

#include "compiler/kernel/element/associative.h"
#include "compiler/target/cuda/kernel/warps.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

#include <map>

using namespace mlir;
using namespace alula::cuda;
using namespace alula::kernel;

namespace {
class NestEmitter {
public:
  NestEmitter(const RowNest &nest, Lowering &lowering)
      : nest(nest), lowering(lowering) {}

  bool emit() {
    if (!isPossible())
      return false;
    SmallVector<Operation *> perColumn;
    for (Operation *op : nest.members)
      if (isa<stablehlo::ReduceOp>(op) || !hasOneColumn(op->getResult(0), nest))
        perColumn.push_back(op);
    int64_t columns = 1;
    for (Operation *op : perColumn)
      columns = std::max(columns, countColumns(isa<stablehlo::ReduceOp>(op)
                                                   ? op->getOperand(0)
                                                   : op->getResult(0)));
    work = countWork(lowering, perColumn, columns);
    for (Operation *op : nest.members)
      for (Value result : op->getResults())
        prepare(op, result);
    forEachByWarps(lowering, getSizes(nest.rows), [&](ValueRange row) {
      for (Operation *op : nest.members) {
        lowering.b.setLoc(op->getLoc());
        auto reduce = dyn_cast<stablehlo::ReduceOp>(op);
        if (!reduce)
          emitElements(op->getResult(0), row);
        else if (!done.contains(op))
          emitReduction(reduce, row, Value());
      }
    });
    for (auto [result, buffer] : outside)
      lowering.setBuffer(result, buffer);
    return true;
  }

private:
  bool isPossible() {
    return mayUseWarps(lowering, lowering.machine.lanes) &&
           llvm::all_of(nest.members, [&](Operation *op) {
             return mayShareColumns(op, nest.rows, [&](Operation *other) {
               return nest.members.contains(other);
             });
           });
  }

  SmallVector<Value> getSizes(ArrayRef<int64_t> sizes) {
    return llvm::map_to_vector(
        sizes, [&](int64_t size) { return lowering.index(size); });
  }

  int64_t countColumns(Value tensor) {
    return ShapedType::getNumElements(getColumns(tensor, nest));
  }

  /// In straight code the same numbers each time, by which the reader knows
  /// what it has read.
  SmallVector<Value> getPlace(ValueRange row, Value tensor, Value column,
                              Value slot) {
    ArrayRef<int64_t> sizes = getColumns(tensor, nest);
    SmallVector<Value> made;
    bool isKnown = slot && isStraight(lowering, countColumns(tensor), work);
    SmallVector<Value> &indices =
        isKnown ? places[{sizes.vec(), *getConstantIntValue(slot)}] : made;
    if (indices.empty()) {
      llvm::append_range(indices, row);
      llvm::append_range(indices,
                         lowering.delinearize(column, getSizes(sizes)));
    }
    return indices;
  }

  /// Memory for what is read outside of the nest, and of each lane for what
  /// several loops read.
  void prepare(Operation *op, Value result) {
    bool isOutside = isReadOutside(op, nest);
    if (isOutside)
      outside[result] = lowering.createResult(result);
    if (hasOneColumn(result, nest) ||
        isStraight(lowering, countColumns(result), work))
      return;
    bool isReadAgain = llvm::any_of(result.getUsers(), [&](Operation *user) {
      return nest.members.contains(user) && !nest.fused.contains(user);
    });
    int64_t each =
        llvm::divideCeil(countColumns(result), lowering.machine.lanes);
    if (nest.memory.lookup(op) == alula::plan::Memory::Row ||
        (isOutside && isReadAgain &&
         fitsLanes(result, nest, lowering.machine.lanes)))
      kept[result] = lowering.createTemporary(
          lowering.index(each), getMemoryType(getElementType(result)));
  }

  /// Which elements of a row this lane has kept need not be computed again.
  void loadKept(Value like, ValueRange indices, Value slot) {
    for (Value result : ready)
      if (getColumns(result, nest) == getColumns(like, nest))
        lowering.setElement(
            result, indices,
            lowering.load(kept.lookup(result), slot, getElementType(result)));
  }

  /// What is reduced in the loop that writes `result`.
  stablehlo::ReduceOp findReader(Value result) {
    for (Operation *user : result.getUsers())
      if (auto reduce = dyn_cast<stablehlo::ReduceOp>(user))
        if (nest.fused.contains(user) &&
            isStridedByLanes(reduce, reduce.getBody().front()))
          return reduce;
    return nullptr;
  }

  /// `stored` is the input, if its elements get their memory here.
  void emitReduction(stablehlo::ReduceOp reduce, ValueRange row, Value stored) {
    Value input = reduce.getInputs()[0];
    Reduction reduction(reduce, reduce.getBody().front(), reduce.getInputs(),
                        reduce.getInitValues(), lowering);
    SmallVector<Value> values =
        reduceByLanes(lowering, reduction, reduce, countColumns(input), work,
                      [&](Value column, Value slot) {
                        SmallVector<Value> indices =
                            getPlace(row, input, column, slot);
                        if (slot)
                          loadKept(input, indices, slot);
                        if (stored)
                          emitElement(stored, indices, slot);
                        return indices;
                      });
    done.insert(reduce);
    for (auto [result, value] : llvm::zip_equal(reduce.getResults(), values))
      setRowValue(result, value, row);
  }

  void setRowValue(Value result, Value value, ValueRange indices) {
    lowering.setScalar(result, value);
    if (Value buffer = outside.lookup(result))
      doByFirstLane(lowering, [&] {
        lowering.store(value, getElementType(result), buffer, indices);
      });
  }

  void emitElement(Value result, ValueRange indices, Value slot) {
    Value element = lowering.getElement(result, indices);
    Type type = getElementType(result);
    if (Value buffer = kept.lookup(result))
      lowering.store(element, type, buffer, slot);
    if (Value buffer = outside.lookup(result))
      lowering.store(element, type, buffer, indices);
  }

  void emitElements(Value result, ValueRange row) {
    lowering.setInlined(result);
    if (hasOneColumn(result, nest)) {
      SmallVector<Value> first(getColumns(result, nest).size(),
                               lowering.index(0));
      SmallVector<Value> indices(row);
      llvm::append_range(indices, first);
      return setRowValue(result, lowering.getElement(result, indices), indices);
    }
    if (!outside.contains(result) && !kept.contains(result))
      return;
    if (stablehlo::ReduceOp reader = findReader(result)) {
      emitReduction(reader, row, result);
    } else {
      forEachByLanes(
          lowering, countColumns(result), work, [&](Value column, Value slot) {
            SmallVector<Value> indices = getPlace(row, result, column, slot);
            loadKept(result, indices, slot);
            emitElement(result, indices, slot);
          });
    }
    if (kept.contains(result))
      ready.push_back(result);
  }

  const RowNest &nest;
  Lowering &lowering;
  ColumnWork work;
  llvm::MapVector<Value, Value> outside;
  /// By the sizes of the columns, and the lane's number of one.
  std::map<std::pair<std::vector<int64_t>, int64_t>, SmallVector<Value>> places;
  DenseMap<Value, Value> kept;
  SmallVector<Value> ready;
  DenseSet<Operation *> done;
};
} // namespace

bool alula::cuda::emitRowNest(const RowNest &nest, Lowering &lowering) {
  return NestEmitter(nest, lowering).emit();
}
