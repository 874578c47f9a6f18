// The loop over rows that several ops share (see plan/row_nests.h).

#include "compiler/target/cpu/kernel/row_nest.h"

#include "compiler/kernel/lowering.h"
#include "compiler/kernel/reduction.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

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
    lowering.forEach(getSizes(nest.rows), [&](ValueRange row) {
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
  SmallVector<Value> getSizes(ArrayRef<int64_t> sizes) {
    return llvm::map_to_vector(
        sizes, [&](int64_t size) { return lowering.index(size); });
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
      lowering.forEach(getSizes(columns), [&](ValueRange inner) {
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
