// The loop over rows that several ops share (see plan/row_nests.h).

#include "compiler/target/cpu/kernel/row_nest.h"

#include "compiler/kernel/lowering.h"
#include "compiler/kernel/plan/plan.h"
#include "compiler/kernel/reduction.h"
#include "compiler/kernel/repeat_arithmetic.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace alula::cpu;
using namespace alula::kernel;

namespace {
class NestEmitter {
public:
  NestEmitter(const RowNest &nest, Lowering &lowering)
      : nest(nest), lowering(lowering) {}

  void emit() {
    for (Operation *op : nest.members)
      for (Value result : op->getResults())
        prepare(op, result);
    lowering.forEach(getRowSizes(), [&](ValueRange row) {
      for (Operation *op : nest.members) {
        lowering.b.setLoc(op->getLoc());
        auto reduce = dyn_cast<stablehlo::ReduceOp>(op);
        if (!reduce)
          emitElements(op->getResult(0), row);
        else if (!nest.fused.contains(op))
          emitReduction(reduce, row, Value());
      }
    });
    for (auto [result, buffer] : outside)
      lowering.setBuffer(result, buffer);
  }

private:
  /// Any reduction tells how many rows there are.
  SmallVector<Value> getRowSizes() {
    for (Operation *op : nest.members)
      if (auto reduce = dyn_cast<stablehlo::ReduceOp>(op))
        return getSizes(reduce.getInputs()[0], 0, nest.rows.size());
    llvm_unreachable("rows are reduced");
  }

  SmallVector<Value> getColumnSizes(Value tensor) {
    size_t first = nest.rows.size();
    return getSizes(tensor, first, first + getColumns(tensor, nest).size());
  }

  SmallVector<Value> getSizes(Value tensor, size_t begin, size_t end) {
    SmallVector<Value> sizes;
    for (size_t dim = begin; dim < end; ++dim)
      sizes.push_back(lowering.getDim(tensor, static_cast<int64_t>(dim)));
    return sizes;
  }

  SmallVector<Value> join(ValueRange row, ValueRange columns) {
    SmallVector<Value> indices(row);
    llvm::append_range(indices, columns);
    return indices;
  }

  /// Memory for values that are live outside of the nest or in several loops.
  void prepare(Operation *op, Value result) {
    if (llvm::any_of(result.getUsers(), [&](Operation *user) {
          return !nest.members.contains(user);
        }))
      outside[result] = lowering.createResult(result);
    else if (nest.memory.lookup(op) == alula::plan::Memory::Row)
      kept[result] = createRow(result);
  }

  /// One row, as which every row of a tensor is seen.
  Value createRow(Value tensor) {
    SmallVector<Value> columns = getColumnSizes(tensor);
    auto type = cast<RankedTensorType>(tensor.getType());
    Value row =
        lowering.createTemporary(columns, getMemoryType(type.getElementType()));
    auto alloc = row.getDefiningOp<memref::AllocOp>();
    if (alloc && !alloc.getType().hasStaticShape())
      alloc->setAttr(privateName, lowering.b.getUnitAttr());
    // A stride of zero can be computed with, but a type that says so can't be
    // read back.
    SmallVector<int64_t> typeStrides(nest.rows.size(), ShapedType::kDynamic);
    SmallVector<OpFoldResult> strides(nest.rows.size(), lowering.index(0));
    for (Value stride : lowering.getStrides(columns)) {
      typeStrides.push_back(
          getConstantIntValue(stride).value_or(int64_t(ShapedType::kDynamic)));
      strides.push_back(getAsOpFoldResult(stride));
    }
    SmallVector<OpFoldResult> sizes;
    SmallVector<int64_t> shape;
    for (Value size : lowering.getShape(tensor)) {
      sizes.push_back(getAsOpFoldResult(size));
      shape.push_back(
          getConstantIntValue(size).value_or(int64_t(ShapedType::kDynamic)));
    }
    auto view = MemRefType::get(
        shape, cast<MemRefType>(row.getType()).getElementType(),
        StridedLayoutAttr::get(type.getContext(), 0, typeStrides));
    return lowering.b.create<memref::ReinterpretCastOp>(
        view, row, /*offset=*/lowering.b.getIndexAttr(0), sizes, strides);
  }

  /// What is reduced in the loop that writes `result`.
  stablehlo::ReduceOp findReader(Value result) {
    for (Operation *user : result.getUsers())
      if (nest.fused.contains(user))
        return cast<stablehlo::ReduceOp>(user);
    return nullptr;
  }

  /// `stored` is the input, if its elements get their memory here.
  void emitReduction(stablehlo::ReduceOp reduce, ValueRange row, Value stored) {
    Reduction reduction(reduce, reduce.getBody().front(), reduce.getInputs(),
                        reduce.getInitValues(), lowering);
    SmallVector<Value> sizes = getColumnSizes(reduce.getInputs()[0]);
    SmallVector<Value> results;
    if (int64_t parts = getStage(reduce).getParts())
      results =
          reduction.foldInParts(parts, *getConstantIntValue(sizes.back()),
                                [&](Value place) { return join(row, place); });
    else
      results = reduction.finish(foldColumns(
          reduction, sizes, [&](ValueRange columns, ValueRange carried) {
            if (stored)
              emitElement(stored, join(row, columns));
            return reduction.append(carried, join(row, columns));
          }));
    for (auto [result, value] : llvm::zip_equal(reduce.getResults(), results))
      setRowValue(result, value, row);
  }

  /// Of a row whose length only the call knows no sum of floats has more terms
  /// than one whose length is known.
  SmallVector<Value> foldColumns(Reduction &reduction, ArrayRef<Value> sizes,
                                 Lowering::Fold step) {
    Value length = sizes.back();
    if (!reduction.getFloatSum() || getConstantIntValue(length))
      return lowering.fold(sizes, reduction.getInitial(), step);
    Value most = lowering.index(lowering.machine.getCoreCacheBytes() /
                                int64_t(sizeof(double)));
    Value none = lowering.index(0);
    auto addPart = [&](ValueRange outer, Value number, Value sum) {
      Value first = lowering.mul(number, most);
      Value count = lowering.min(most, lowering.sub(length, first));
      Value part =
          lowering.foldRange(none, count, reduction.getNeutral(),
                             [&](ValueRange place, ValueRange carried) {
                               Value column =
                                   lowering.add(first, place.front());
                               return step(join(outer, column), carried);
                             })[0];
      return SmallVector<Value>{reduction.addSums(sum, part)};
    };
    return lowering.fold(sizes.drop_back(), reduction.getInitial(),
                         [&](ValueRange outer, ValueRange carried) {
                           return lowering.foldRange(
                               none, lowering.ceilDiv(length, most), carried,
                               [&](ValueRange number, ValueRange sums) {
                                 return addPart(outer, number.front(),
                                                sums.front());
                               });
                         });
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

  /// Later reads of the element load it from where it is buffered.
  void emitElement(Value result, ValueRange indices) {
    lowering.setInlined(result);
    Value buffer = findBuffer(result);
    lowering.store(lowering.getElement(result, indices), getElementType(result),
                   buffer, indices);
    lowering.setBuffer(result, buffer);
  }

  void emitElements(Value result, ValueRange row) {
    ArrayRef<int64_t> columns = getColumns(result, nest);
    lowering.setInlined(result);
    if (hasOneColumn(result, nest)) {
      SmallVector<Value> first(columns.size(), lowering.index(0));
      SmallVector<Value> indices = join(row, first);
      return setRowValue(result, lowering.getElement(result, indices), indices);
    }
    if (!findBuffer(result))
      return;
    if (stablehlo::ReduceOp reader = findReader(result)) {
      emitReduction(reader, row, result);
    } else {
      lowering.forEach(getColumnSizes(result), [&](ValueRange inner) {
        emitElement(result, join(row, inner));
      });
    }
    lowering.setBuffer(result, findBuffer(result));
  }

  const RowNest &nest;
  Lowering &lowering;
  llvm::MapVector<Value, Value> outside;
  DenseMap<Value, Value> kept;
};
} // namespace

void alula::cpu::emitRowNest(const RowNest &nest, Lowering &lowering) {
  NestEmitter(nest, lowering).emit();
}
