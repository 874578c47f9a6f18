// Products of reals by blocks of the result: each is a call of the kernel
// library, and what follows elementwise is computed while the block is warm.
//   for each block:  alula_product_f32(c, a, b, …);  for each (i, j): … c[i, j]
// The blocks are one loop without an order.

#include "compiler/kernel/block_product.h"
#include "compiler/kernel/library/product.h"
#include "compiler/kernel/matrix_operand.h"
#include "compiler/kernel/scalar.h"

#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace alula::kernel;

namespace {
/// Enough rows that packing a panel of the right side is cheap.
constexpr int64_t maxBlockRows = 128, fewBlockRows = 192;
/// A few panels.
constexpr int64_t maxBlockColumns = 256, minBlockColumns = 64;
/// For the cores of a machine, if the product is large.
constexpr int64_t wantedBlocks = 16;
/// What a core does while it does one step of a loop of scalars.
constexpr int64_t productsPerStep = 16;

class BlockProduct {
public:
  BlockProduct(stablehlo::DotGeneralOp dot, Lowering &lowering)
      : dot(dot), lowering(lowering), b(lowering.b),
        sumType(getSumType(getElementType(dot.getResult()))),
        isSwapped(hasOneColumn(dot, lowering)),
        left(dot, isSwapped ? dot.getRhs() : dot.getLhs(), getDims(true),
             sumType, lowering),
        right(dot, isSwapped ? dot.getLhs() : dot.getRhs(), getDims(false),
              sumType, lowering),
        final(lowering.getFinalResult(dot->getResult(0))) {}

  /// False if a block of an operand would be of a size that is not known.
  bool emit();

private:
  static bool hasOneColumn(stablehlo::DotGeneralOp dot, Lowering &lowering);
  /// Rows and columns of the left side are its free and contracted dimensions,
  /// those of the right side its contracted and free ones.
  MatrixDims getDims(bool isLeft) const;
  void chooseBlocks();
  void emitBlock(ValueRange batch, Value firstRow, Value firstColumn);
  void callProduct(Value c, Value cRow, const MatrixBlock &a,
                   const MatrixBlock &otherSide, Value rows, Value columns);
  void finish(Value tile, ValueRange batch, Value firstRow, Value rows,
              Value firstColumn, Value columns);

  Value toInteger(Value index) {
    return b.create<arith::IndexCastOp>(b.getI64Type(), index);
  }
  Value makeI32(int32_t value) {
    return b.create<arith::ConstantOp>(b.getI32IntegerAttr(value));
  }

  stablehlo::DotGeneralOp dot;
  Lowering &lowering;
  ImplicitLocOpBuilder &b;
  Type sumType;
  /// A matrix times a vector is that vector times the transposed matrix.
  bool isSwapped;
  MatrixOperand left, right;
  /// What is written: the product or what follows it.
  Value final, buffer;
  Value rows, columns, depth, blockRows, blockColumns;
};

SmallVector<int64_t> collectFree(stablehlo::DotGeneralOp dot, bool isLhs) {
  auto numbers = dot.getDotDimensionNumbers();
  Value tensor = isLhs ? dot.getLhs() : dot.getRhs();
  auto batch = isLhs ? numbers.getLhsBatchingDimensions()
                     : numbers.getRhsBatchingDimensions();
  auto contracted = isLhs ? numbers.getLhsContractingDimensions()
                          : numbers.getRhsContractingDimensions();
  SmallVector<int64_t> free;
  for (int64_t d = 0; d < cast<RankedTensorType>(tensor.getType()).getRank(); ++d)
    if (!llvm::is_contained(batch, d) && !llvm::is_contained(contracted, d))
      free.push_back(d);
  return free;
}

bool BlockProduct::hasOneColumn(stablehlo::DotGeneralOp dot,
                                Lowering &lowering) {
  return llvm::all_of(collectFree(dot, /*isLhs=*/false), [&](int64_t dim) {
    return getConstantIntValue(lowering.getDim(dot.getRhs(), dim)) == 1;
  });
}

MatrixDims BlockProduct::getDims(bool isLeft) const {
  bool isLhs = isLeft != isSwapped;
  auto dot = this->dot;
  auto numbers = dot.getDotDimensionNumbers();
  MatrixDims dims;
  llvm::append_range(dims.batch, isLhs ? numbers.getLhsBatchingDimensions()
                                       : numbers.getRhsBatchingDimensions());
  llvm::append_range(isLeft ? dims.columns : dims.rows,
                     isLhs ? numbers.getLhsContractingDimensions()
                           : numbers.getRhsContractingDimensions());
  (isLeft ? dims.rows : dims.columns) = collectFree(dot, isLhs);
  return dims;
}

void BlockProduct::chooseBlocks() {
  auto constantRows = getConstantIntValue(rows);
  int64_t rowLimit = constantRows && *constantRows <= fewBlockRows
                         ? std::max<int64_t>(*constantRows, 1)
                         : maxBlockRows;
  // Fewer columns make more blocks.
  auto constantColumns = getConstantIntValue(columns);
  int64_t columnLimit = maxBlockColumns;
  auto countBlocks = [&]() {
    int64_t count = constantColumns
                        ? llvm::divideCeil(*constantColumns, columnLimit)
                        : wantedBlocks;
    for (Value size : left.getBatchSizes())
      count *= std::min(getConstantIntValue(size).value_or(wantedBlocks),
                        wantedBlocks);
    int64_t rowCount = constantRows.value_or(wantedBlocks * rowLimit);
    return count * std::min(int64_t(llvm::divideCeil(rowCount, rowLimit)),
                            wantedBlocks);
  };
  while (columnLimit > minBlockColumns && countBlocks() < wantedBlocks)
    columnLimit /= 2;
  if (constantColumns)
    columnLimit = std::min(columnLimit, std::max<int64_t>(*constantColumns, 1));
  blockRows = lowering.index(rowLimit);
  blockColumns = lowering.index(columnLimit);
}

void BlockProduct::callProduct(Value c, Value cRow, const MatrixBlock &a,
                               const MatrixBlock &otherSide, Value m, Value n) {
  auto pointerType = LLVM::LLVMPointerType::get(b.getContext());
  Value zero = toInteger(lowering.index(0)), one = toInteger(lowering.index(1));
  Value noSegments = b.create<LLVM::ZeroOp>(pointerType);
  Value scratch = lowering.createTemporary(
      {lowering.index(alula_product_scratch_bytes())}, b.getI8Type());
  lowering.callLibrary(
      "alula_product_" + getLibraryName(sumType),
      {c, zero, toInteger(cRow), a.pointer, zero, toInteger(a.rowStride),
       toInteger(a.columnStride), noSegments, one, toInteger(depth),
       otherSide.pointer, toInteger(otherSide.rowStride),
       toInteger(otherSide.columnStride), one, toInteger(m), toInteger(n),
       makeI32(/*add=*/0), lowering.getPointer(scratch)});
}

bool BlockProduct::emit() {
  rows = left.countRows();
  columns = right.countColumns();
  depth = left.countColumns();
  if (!getConstantIntValue(depth) && !(left.isInPlace() && right.isInPlace()))
    return false;
  buffer = lowering.createResult(final);
  chooseBlocks();

  auto countBlocks = [&](Value size, Value limit) {
    return lowering.div(
        lowering.add(size, lowering.sub(limit, lowering.index(1))), limit);
  };
  SmallVector<Value> grid = left.getBatchSizes();
  size_t numBatch = grid.size();
  grid.push_back(countBlocks(rows, blockRows));
  grid.push_back(countBlocks(columns, blockColumns));
  int64_t steps = *getConstantIntValue(blockRows) *
                  *getConstantIntValue(blockColumns) *
                  std::min<int64_t>(getConstantIntValue(depth).value_or(1024), 1 << 20) /
                  productsPerStep;
  lowering.forEachBlock(lowering.product(grid), steps, [&](Value number) {
    SmallVector<Value> position = lowering.delinearize(number, grid);
    emitBlock(ValueRange(position).take_front(numBatch),
              lowering.mul(position[numBatch], blockRows),
              lowering.mul(position[numBatch + 1], blockColumns));
  });
  return true;
}

void BlockProduct::emitBlock(ValueRange batch, Value firstRow,
                             Value firstColumn) {
  Value m = lowering.min(blockRows, lowering.sub(rows, firstRow));
  Value n = lowering.min(blockColumns, lowering.sub(columns, firstColumn));
  Value zero = lowering.index(0);
  MatrixBlock a =
      left.getBlock(batch, firstRow, m, zero, depth, blockRows, depth);
  MatrixBlock other =
      right.getBlock(batch, zero, depth, firstColumn, n, depth, blockColumns);
  // The product itself, in its own memory: rows are as long as the result's.
  if (final == dot.getResult() && getMemoryType(getElementType(final)) == sumType) {
    Value number = lowering.linearize(batch, left.getBatchSizes());
    number = lowering.add(lowering.mul(number, rows), firstRow);
    number = lowering.add(lowering.mul(number, columns), firstColumn);
    callProduct(getElementPointer(lowering, buffer, number), columns, a, other,
                m, n);
    return;
  }
  Value tile = lowering.createTemporary({blockRows, blockColumns}, sumType);
  callProduct(lowering.getPointer(tile), blockColumns, a, other, m, n);
  finish(tile, batch, firstRow, m, firstColumn, n);
}

void BlockProduct::finish(Value tile, ValueRange batch, Value firstRow,
                          Value rowCount, Value firstColumn,
                          Value columnCount) {
  SmallVector<Value> rowSizes = left.getRowSizes();
  SmallVector<Value> columnSizes = right.getColumnSizes();
  Type element = getElementType(dot.getResult());
  lowering.forEach({rowCount, columnCount}, [&](ValueRange position) {
    SmallVector<Value> indices(batch);
    SmallVector<Value> row =
        lowering.delinearize(lowering.add(firstRow, position[0]), rowSizes);
    SmallVector<Value> column = lowering.delinearize(
        lowering.add(firstColumn, position[1]), columnSizes);
    llvm::append_range(indices, isSwapped ? column : row);
    llvm::append_range(indices, isSwapped ? row : column);
    Value sum = b.create<memref::LoadOp>(tile, position);
    lowering.storeFinal(dot->getResult(0), roundSum(lowering, sum, element),
                        buffer, indices);
  });
}
} // namespace

bool alula::kernel::emitBlockProduct(stablehlo::DotGeneralOp dot,
                                     Lowering &lowering) {
  return BlockProduct(dot, lowering).emit();
}
