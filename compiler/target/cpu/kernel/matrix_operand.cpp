#include "compiler/target/cpu/kernel/matrix_operand.h"

#include "compiler/kernel/element/scalar.h"
#include "compiler/kernel/library/product.h"
#include "dialect/dispatch/ops.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace alula::cpu;
using namespace alula::kernel;

Value alula::cpu::getElementPointer(Lowering &lowering, Value buffer,
                                    Value number) {
  ImplicitLocOpBuilder &b = lowering.b;
  Value pointer = lowering.getPointer(buffer);
  if (getConstantIntValue(number) == 0)
    return pointer;
  Type element = cast<MemRefType>(buffer.getType()).getElementType();
  Value offset = b.create<arith::IndexCastOp>(b.getI64Type(), number);
  return b.create<LLVM::GEPOp>(pointer.getType(), element, pointer,
                               LLVM::GEPArg(offset));
}

MatrixOperand::MatrixOperand(Operation *op, Value tensor, MatrixDims dims,
                             Type element, Lowering &lowering)
    : op(op), tensor(tensor), dims(std::move(dims)), element(element),
      lowering(lowering) {
  if (!findStrides())
    buffer = {};
  panels = findPanels();
}

SmallVector<Value> MatrixOperand::getSizes(ArrayRef<int64_t> list) const {
  SmallVector<Value> sizes;
  for (int64_t dim : list)
    sizes.push_back(lowering.getDim(tensor, dim));
  return sizes;
}

/// Looks through transposes that have no memory of their own.
bool MatrixOperand::findStrides() {
  auto rank = static_cast<size_t>(
      cast<RankedTensorType>(tensor.getType()).getRank());
  SmallVector<int64_t> sourceDims(rank);
  for (size_t i = 0; i < rank; ++i)
    sourceDims[i] = static_cast<int64_t>(i);
  Value source = tensor;
  while (!lowering.hasBuffer(source)) {
    auto transpose = source.getDefiningOp<stablehlo::TransposeOp>();
    if (!transpose)
      return false;
    for (int64_t &dim : sourceDims)
      dim = transpose.getPermutation()[static_cast<size_t>(dim)];
    source = transpose.getOperand();
  }
  buffer = lowering.getBuffer(source);
  if (cast<MemRefType>(buffer.getType()).getElementType() !=
          getMemoryType(element) ||
      getElementType(source) != element)
    return false;
  SmallVector<Value> sourceStrides =
      lowering.getStrides(lowering.getShape(source));
  for (size_t i = 0; i < rank; ++i) {
    places.push_back(sourceDims[i]);
    strides.push_back(sourceStrides[static_cast<size_t>(sourceDims[i])]);
  }
  bool areOne = true;
  rowStride = findStride(dims.rows, areOne);
  columnStride = findStride(dims.columns, areOne);
  return areOne;
}

/// Null if they are not as the library wants them.
Value MatrixOperand::findPanels() const {
  auto op = tensor.getDefiningOp<dispatch::FromPanelsOp>();
  if (!op || !lowering.hasBuffer(op.getPanels()) || !dims.batch.empty() ||
      op.getRows() != ArrayRef(dims.rows) ||
      op.getColumns() != ArrayRef(dims.columns) ||
      getElementType(tensor) != element ||
      op.getWidth() * element.getIntOrFloatBitWidth() / 8 != ALULA_PANEL_BYTES)
    return {};
  return lowering.getBuffer(op.getPanels());
}

/// Of dimensions that lie in memory as if they were one.
Value MatrixOperand::findStride(ArrayRef<int64_t> list, bool &isOne) const {
  Value stride = lowering.index(0);
  int64_t previous = -1;
  for (int64_t dim : list) {
    if (getConstantIntValue(lowering.getDim(tensor, dim)) == 1)
      continue;
    int64_t place = places[static_cast<size_t>(dim)];
    // Those of size 1 between two take no room.
    for (int64_t between = previous + 1; previous != -1 && between < place;
         ++between) {
      bool isInside = llvm::any_of(llvm::enumerate(places), [&](auto entry) {
        return entry.value() == between &&
               getConstantIntValue(lowering.getDim(
                   tensor, static_cast<int64_t>(entry.index()))) == 1;
      });
      isOne &= isInside;
    }
    isOne &= previous < place;
    previous = place;
    stride = strides[static_cast<size_t>(dim)];
  }
  return stride;
}

MatrixBlock MatrixOperand::getBlock(ValueRange batch, Value firstRow, Value rows,
                                    Value firstColumn, Value columns,
                                    Value rowLimit, Value columnLimit) {
  if (panels) {
    auto shape = cast<MemRefType>(panels.getType()).getShape();
    Value panel = lowering.div(firstColumn, lowering.index(shape[2]));
    Value stride = lowering.index(shape[1] * shape[2]);
    Value number = lowering.add(lowering.mul(panel, stride),
                                lowering.mul(firstRow, lowering.index(shape[2])));
    return {getElementPointer(lowering, panels, number), {}, {}, stride};
  }
  if (buffer) {
    Value number = lowering.index(0);
    for (auto [dim, index] : llvm::zip_equal(dims.batch, batch))
      number = lowering.add(
          number, lowering.mul(index, strides[static_cast<size_t>(dim)]));
    number = lowering.add(number, lowering.mul(firstRow, rowStride));
    number = lowering.add(number, lowering.mul(firstColumn, columnStride));
    return {getElementPointer(lowering, buffer, number), rowStride,
            columnStride};
  }
  Value tile = lowering.createTemporary({rowLimit, columnLimit},
                                         getMemoryType(element));
  SmallVector<Value> rowSizes = getRowSizes(), columnSizes = getColumnSizes();
  lowering.forEach({rows, columns}, [&](ValueRange position) {
    SmallVector<Value> indices(static_cast<size_t>(
        cast<RankedTensorType>(tensor.getType()).getRank()));
    auto place = [&](ArrayRef<int64_t> list, ValueRange values) {
      for (auto [dim, value] : llvm::zip_equal(list, values))
        indices[static_cast<size_t>(dim)] = value;
    };
    place(dims.batch, batch);
    place(dims.rows, lowering.delinearize(
                         lowering.add(firstRow, position[0]), rowSizes));
    place(dims.columns, lowering.delinearize(
                            lowering.add(firstColumn, position[1]), columnSizes));
    Value value = lowering.getElement(tensor, indices);
    if (getElementType(tensor) != element)
      value = widenForSum(lowering, op, value, getElementType(tensor), element);
    lowering.b.create<memref::StoreOp>(value, tile, position);
  });
  return {lowering.getPointer(tile), columnLimit, lowering.index(1)};
}
