#include "compiler/target/cpu/kernel/matrix_operand.h"

#include "compiler/kernel/element/scalar.h"
#include "compiler/kernel/library/product.h"
#include "dialect/dispatch/panel_layout.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace alula::cpu;
using namespace alula::kernel;

/// Columns that are copied together; shorter pieces are loops of a few steps.
static constexpr int64_t minPiece = 16;

MatrixOperand::MatrixOperand(Operation *op, Value tensor, MatrixDims dims,
                             Type element, Lowering &lowering)
    : op(op), tensor(tensor), dims(std::move(dims)), element(element),
      lowering(lowering) {
  if (!findStrides())
    buffer = {};
  panels = findPanels();
  if (!isInPlace())
    narrow = findNarrow();
}

SmallVector<Value> MatrixOperand::getSizes(ArrayRef<int64_t> list) const {
  SmallVector<Value> sizes;
  for (int64_t dim : list)
    sizes.push_back(lowering.getDim(tensor, dim));
  return sizes;
}

Value MatrixOperand::findSource() {
  auto rank =
      static_cast<size_t>(cast<RankedTensorType>(tensor.getType()).getRank());
  places.resize(rank);
  for (size_t i = 0; i < rank; ++i)
    places[i] = static_cast<int64_t>(i);
  Value source = tensor;
  while (!lowering.hasBuffer(source)) {
    auto transpose = source.getDefiningOp<stablehlo::TransposeOp>();
    if (!transpose || !lowering.isInlined(source))
      break;
    for (int64_t &dim : places)
      dim = transpose.getPermutation()[static_cast<size_t>(dim)];
    source = transpose.getOperand();
  }
  return source;
}

bool MatrixOperand::measure(Value source) {
  SmallVector<Value> sourceStrides =
      lowering.getStrides(lowering.getShape(source));
  strides.clear();
  for (int64_t place : places)
    strides.push_back(sourceStrides[static_cast<size_t>(place)]);
  bool areOne = true;
  rowStride = findStride(dims.rows, areOne);
  columnStride = findStride(dims.columns, areOne);
  return areOne;
}

bool MatrixOperand::findStrides() {
  Value source = findSource();
  if (!lowering.hasBuffer(source))
    return false;
  buffer = lowering.getBuffer(source);
  return cast<MemRefType>(buffer.getType()).getElementType() ==
             getMemoryType(element) &&
         getElementType(source) == element && measure(source);
}

std::optional<NarrowMatrix> MatrixOperand::findNarrow() const {
  return findNarrowMatrix(tensor, dims.batch, dims.rows, dims.columns, element,
                          lowering);
}

/// Null if they are not as the library wants them.
Value MatrixOperand::findPanels() const {
  auto op = tensor.getDefiningOp<dispatch::FromPanelsOp>();
  if (!op || !lowering.hasBuffer(op.getPanels()) || !dims.batch.empty() ||
      op.getRows() != ArrayRef(dims.rows) ||
      op.getColumns() != ArrayRef(dims.columns) ||
      getElementType(tensor) != element)
    return {};
  dispatch::PanelLayout layout = dispatch::getPanelLayout(op);
  Value other = this->op->getOperand(this->op->getOperand(0) == tensor ? 1 : 0);
  if (layout.group != dispatch::getPanelGroup(element) ||
      layout.getBytes(element) != ALULA_PANEL_BYTES ||
      layout.isOffset != dispatch::wantsOffset(getElementType(other), element))
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

Value alula::cpu::getScalePointer(Lowering &lowering,
                                  const NarrowMatrix &matrix, Value firstRow,
                                  Value firstColumn) {
  if (!matrix.scale)
    return lowering.b.create<LLVM::ZeroOp>(
        LLVM::LLVMPointerType::get(lowering.b.getContext()));
  auto step = [&](Value first, int64_t span, int64_t by) {
    return lowering.mul(lowering.div(first, lowering.index(span)),
                        lowering.index(by));
  };
  Value number = lowering.add(
      step(firstRow, matrix.steps.rows, matrix.steps.rowStep),
      step(firstColumn, matrix.steps.columns, matrix.steps.columnStep));
  if (matrix.firstScale)
    number = lowering.add(matrix.firstScale, number);
  return getElementPointer(lowering, matrix.scale, number);
}

/// As panels, where product.h wants columns of lines that are rows; no pointer
/// for others.
MatrixBlock MatrixOperand::widenPanels(const NarrowMatrix &matrix,
                                       Value firstRow, Value rows,
                                       Value firstColumn, Value columns,
                                       Value rowLimit, Value columnLimit) {
  constexpr int64_t width = ALULA_PANEL_BYTES / 4;
  auto limit = getConstantIntValue(columnLimit);
  const stablehlo::MatrixLayout &layout = matrix.layout;
  if (!mayBePanels || !element.isF32() || layout.columnStride != 1 || !limit ||
      (matrix.steps.columnStep &&
       (matrix.steps.columns != 1 || matrix.steps.columnStep != 1)) ||
      (matrix.hasFourBits() && (layout.rowStride % 2 || *limit % 2)))
    return {};
  Value panel = lowering.mul(rowLimit, lowering.index(width));
  Value tile = lowering.createTemporary(
      {lowering.index((*limit + width - 1) / width), panel},
      getMemoryType(element));
  RoutineArguments arguments(lowering, lowering.getPointer(tile));
  arguments.addSize(panel);
  arguments.add(matrix.integers);
  arguments.addSize(lowering.add(
      lowering.mul(firstRow, lowering.index(layout.rowStride)), firstColumn));
  arguments.addSize(layout.rowStride);
  arguments.addSize(rows);
  arguments.addSize(columns);
  arguments.add(getScalePointer(lowering, matrix, firstRow, firstColumn));
  arguments.addSize(matrix.steps.rows);
  arguments.addSize(matrix.steps.rowStep);
  arguments.addSize(matrix.steps.columnStep);
  lowering.callLibrary("alula_widen_panels_" + matrix.type, arguments);
  return {lowering.getPointer(tile), {}, {}, panel};
}

/// The same from panels of integers; no pointer for blocks that begin inside of
/// one.
MatrixBlock MatrixOperand::widenFromPanels(const NarrowMatrix &matrix,
                                           Value firstRow, Value rows,
                                           Value firstColumn, Value columns,
                                           Value rowLimit, Value columnLimit) {
  constexpr int64_t width = ALULA_PANEL_BYTES / 4;
  if (!mayBePanels || !beginsPanels(matrix, columnLimit))
    return {};
  Value panel = lowering.mul(rowLimit, lowering.index(width));
  int64_t limit = *getConstantIntValue(columnLimit);
  Value tile = lowering.createTemporary(
      {lowering.index((limit + width - 1) / width), panel},
      getMemoryType(element));
  RoutineArguments arguments(lowering, lowering.getPointer(tile));
  arguments.addSize(panel);
  arguments.addPanels(matrix, firstColumn);
  arguments.addSize(firstRow);
  arguments.addSize(rows);
  arguments.addSize(columns);
  arguments.addPanelScales(matrix, firstColumn);
  arguments.addPanelZeros(matrix, firstColumn);
  lowering.callLibrary("alula_panel_widen_" + matrix.type, arguments);
  return {lowering.getPointer(tile), {}, {}, panel};
}

/// A block by a call of the library, line by line as the integers lie; no
/// pointer if a line would begin inside of what shares a scale.
MatrixBlock MatrixOperand::widenBlock(const NarrowMatrix &matrix,
                                      Value firstRow, Value rows,
                                      Value firstColumn, Value columns,
                                      Value rowLimit, Value columnLimit) {
  if (matrix.isInPanels)
    return widenFromPanels(matrix, firstRow, rows, firstColumn, columns,
                           rowLimit, columnLimit);
  auto isWhole = [](Value limit, int64_t span, int64_t step) {
    auto size = getConstantIntValue(limit);
    return step == 0 || (size && (*size % span == 0 || span % *size == 0));
  };
  if (!isWhole(rowLimit, matrix.steps.rows, matrix.steps.rowStep) ||
      !isWhole(columnLimit, matrix.steps.columns, matrix.steps.columnStep))
    return {};
  bool byRows = matrix.layout.columnStride == 1;
  if (MatrixBlock block = widenPanels(matrix, firstRow, rows, firstColumn,
                                      columns, rowLimit, columnLimit);
      block.pointer)
    return block;
  Value lineLimit = byRows ? rowLimit : columnLimit;
  Value lengthLimit = byRows ? columnLimit : rowLimit;
  Value tile = lowering.createTemporary({lineLimit, lengthLimit},
                                        getMemoryType(element));
  Value first = lowering.add(
      lowering.mul(firstRow, lowering.index(matrix.layout.rowStride)),
      lowering.mul(firstColumn, lowering.index(matrix.layout.columnStride)));
  RoutineArguments arguments(lowering, lowering.getPointer(tile));
  arguments.addSize(lengthLimit);
  arguments.add(matrix.integers);
  arguments.addSize(first);
  arguments.addSize(byRows ? matrix.layout.rowStride
                           : matrix.layout.columnStride);
  arguments.addSize(byRows ? rows : columns);
  arguments.addSize(byRows ? columns : rows);
  if (element.isF32()) {
    arguments.add(getScalePointer(lowering, matrix, firstRow, firstColumn));
    arguments.addSize(byRows ? matrix.steps.rows : matrix.steps.columns);
    arguments.addSize(byRows ? matrix.steps.rowStep : matrix.steps.columnStep);
    arguments.addSize(byRows ? matrix.steps.columns : matrix.steps.rows);
    arguments.addSize(byRows ? matrix.steps.columnStep : matrix.steps.rowStep);
  }
  lowering.callLibrary(
      "alula_widen_" + matrix.type + "_" + getLibraryName(element), arguments);
  Value one = lowering.index(1);
  return {lowering.getPointer(tile), byRows ? lengthLimit : one,
          byRows ? one : lengthLimit};
}

MatrixBlock MatrixOperand::getBlock(ValueRange batch, Value firstRow,
                                    Value rows, Value firstColumn,
                                    Value columns, Value rowLimit,
                                    Value columnLimit) {
  if (panels) {
    auto shape = cast<MemRefType>(panels.getType()).getShape();
    Value panel = lowering.div(firstColumn, lowering.index(shape[2]));
    // Blocks begin with a group.
    Value stride = lowering.index(
        ShapedType::getNumElements(ArrayRef(shape).drop_front()));
    Value number =
        lowering.add(lowering.mul(panel, stride),
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
  if (narrow)
    if (MatrixBlock block =
            widenBlock(getMatrix(lowering, *narrow, batch), firstRow, rows,
                       firstColumn, columns, rowLimit, columnLimit);
        block.pointer)
      return block;
  // Neighbours in memory are computed together.
  auto rank = cast<RankedTensorType>(tensor.getType()).getRank();
  bool byRows = !mayBePanels || !llvm::is_contained(dims.rows, rank - 1);
  Value lineLimit = byRows ? rowLimit : columnLimit;
  Value lengthLimit = byRows ? columnLimit : rowLimit;
  Value tile = lowering.createTemporary({lineLimit, lengthLimit},
                                        getMemoryType(element));
  SmallVector<Value> rowSizes = getRowSizes(), columnSizes = getColumnSizes();
  auto store = [&](Value row, Value column, ArrayRef<Value> columnPlace) {
    SmallVector<Value> indices(static_cast<size_t>(rank));
    auto place = [&](ArrayRef<int64_t> list, ValueRange values) {
      for (auto [dim, value] : llvm::zip_equal(list, values))
        indices[static_cast<size_t>(dim)] = value;
    };
    place(dims.batch, batch);
    place(dims.rows,
          lowering.delinearize(lowering.add(firstRow, row), rowSizes));
    place(dims.columns, columnPlace);
    Value value = lowering.getElement(tensor, indices);
    if (getElementType(tensor) != element)
      value = widenForSum(lowering, op, value, getElementType(tensor), element);
    SmallVector<Value> target{row, column};
    if (!byRows)
      std::swap(target[0], target[1]);
    lowering.b.create<memref::StoreOp>(value, tile, target);
  };
  Value one = lowering.index(1);
  MatrixBlock block{lowering.getPointer(tile), byRows ? lengthLimit : one,
                    byRows ? one : lengthLimit};
  std::optional<int64_t> length = columnSizes.size() < 2
                                      ? std::nullopt
                                      : getConstantIntValue(columnSizes.back());
  if (!byRows || !length || *length < minPiece) {
    SmallVector<Value> loops{rows, columns};
    if (!byRows)
      std::swap(loops[0], loops[1]);
    lowering.forEach(loops, [&](ValueRange position) {
      Value row = position[byRows ? 0 : 1], column = position[byRows ? 1 : 0];
      store(
          row, column,
          lowering.delinearize(lowering.add(firstColumn, column), columnSizes));
    });
    return block;
  }
  // Columns in pieces of the last dimension: no place of an element is divided.
  Value end = lowering.add(firstColumn, columns);
  Value firstPiece = lowering.div(firstColumn, columnSizes.back());
  Value pieces =
      lowering.sub(lowering.ceilDiv(end, columnSizes.back()), firstPiece);
  lowering.forEach({rows, pieces}, [&](ValueRange position) {
    Value piece = lowering.add(firstPiece, position[1]);
    Value begin = lowering.mul(piece, columnSizes.back());
    Value skipped = lowering.sub(firstColumn, lowering.min(firstColumn, begin));
    Value count = lowering.sub(
        lowering.min(lowering.sub(end, begin), columnSizes.back()), skipped);
    SmallVector<Value> columnPlace =
        lowering.delinearize(piece, ArrayRef(columnSizes).drop_back());
    columnPlace.push_back({});
    lowering.forEach({count}, [&](ValueRange inner) {
      columnPlace.back() = lowering.add(skipped, inner[0]);
      Value column =
          lowering.sub(lowering.add(begin, columnPlace.back()), firstColumn);
      store(position[0], column, columnPlace);
    });
  });
  return block;
}
