// Products of reals by tiles of the result: each is a call of the kernel
// library, and the elementwise epilogue is computed while the tile is in the
// cache.
//   for each block:  alula_product_f32(c, a, b, …);  for each (i, j): … c[i, j]
// The blocks are one loop without an order.

#include "compiler/kernel/element/scalar.h"
#include "compiler/kernel/plan/forms.h"
#include "compiler/kernel/plan/plan.h"
#include "compiler/target/cpu/kernel/block_product.h"
#include "compiler/target/cpu/kernel/product_call.h"

#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace alula::cpu;
using namespace alula::kernel;

namespace {
constexpr int64_t fewRows = 3;

class BlockProduct {
public:
  BlockProduct(stablehlo::DotGeneralOp dot, Lowering &lowering)
      : dot(dot), lowering(lowering), b(lowering.b),
        isSwapped(hasOneColumn(dot, lowering)), types(getTypes()),
        left(dot, isSwapped ? dot.getRhs() : dot.getLhs(), getDims(true),
             types.left, lowering),
        right(dot, isSwapped ? dot.getLhs() : dot.getRhs(), getDims(false),
              types.right, lowering),
        final(lowering.getFinalResult(dot->getResult(0))) {}

  /// False if a block of an operand would be of a size that is not known.
  bool emit();

private:
  static bool hasOneColumn(stablehlo::DotGeneralOp dot, Lowering &lowering);
  /// Rows and columns of the left side are its free and contracted dimensions,
  /// those of the right side its contracted and free ones.
  MatrixDims getDims(bool isLeft) const;
  ProductTypes getTypes() const {
    ProductTypes types = getProductTypes(dot);
    if (isSwapped)
      std::swap(types.left, types.right);
    return types;
  }
  /// Whether the product is not written to where it belongs as it is computed.
  bool isReadAgain() {
    return final != dot.getResult() ||
           getMemoryType(getElementType(final)) != types.sum;
  }
  void emitBlock(ValueRange batch, Value firstRow, Value firstColumn);
  void finish(Value tile, ValueRange batch, Value firstRow, Value rows,
              Value firstColumn, Value columns);

  stablehlo::DotGeneralOp dot;
  Lowering &lowering;
  ImplicitLocOpBuilder &b;
  /// A matrix times a vector is that vector times the transposed matrix.
  bool isSwapped;
  ProductTypes types;
  MatrixOperand left, right;
  /// What is written: the product or what follows it.
  Value final, buffer;
  Value rows, columns, depth, blockRows, blockColumns;
};

bool BlockProduct::hasOneColumn(stablehlo::DotGeneralOp dot,
                                Lowering &lowering) {
  return llvm::all_of(collectFreeDims(dot, /*isLhs=*/false), [&](int64_t dim) {
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
  (isLeft ? dims.rows : dims.columns) = collectFreeDims(dot, isLhs);
  return dims;
}

bool BlockProduct::emit() {
  rows = left.countRows();
  columns = right.countColumns();
  depth = left.countColumns();
  if (!getConstantIntValue(depth) && !(left.isInPlace() && right.isInPlace()))
    return false;
  buffer = lowering.createResult(final);
  ArrayRef<int64_t> tile = getStage(dot).getTile();
  blockRows = lowering.index(tile[0]);
  blockColumns = lowering.index(tile[1]);

  SmallVector<Value> grid = left.getBatchSizes();
  size_t numBatch = grid.size();
  grid.push_back(lowering.ceilDiv(rows, blockRows));
  grid.push_back(lowering.ceilDiv(columns, blockColumns));
  // With few rows the right side is bound by memory bandwidth.
  int64_t productsPerStep = getProductsPerStep(lowering.machine);
  if (*getConstantIntValue(blockRows) <= fewRows)
    productsPerStep = std::max<int64_t>(productsPerStep / 8, 1);
  int64_t steps =
      *getConstantIntValue(blockRows) * *getConstantIntValue(blockColumns) *
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
  ProductCall call;
  call.rows = lowering.min(blockRows, lowering.sub(rows, firstRow));
  call.columns = lowering.min(blockColumns, lowering.sub(columns, firstColumn));
  call.columnLimit = *getConstantIntValue(blockColumns);
  call.depth = depth;
  Value zero = lowering.index(0);
  call.left =
      left.getBlock(batch, firstRow, call.rows, zero, depth, blockRows, depth);
  call.right = right.getBlock(batch, zero, depth, firstColumn, call.columns,
                              depth, blockColumns);
  // The product itself, in its own memory: rows are as long as the result's.
  if (!isReadAgain()) {
    Value number = lowering.linearize(batch, left.getBatchSizes());
    number = lowering.add(lowering.mul(number, rows), firstRow);
    number = lowering.add(lowering.mul(number, columns), firstColumn);
    call.output = getElementPointer(lowering, buffer, number);
    call.outputRow = columns;
    return callProduct(lowering, types, call);
  }
  Value tile = lowering.createTemporary({blockRows, blockColumns}, types.sum);
  call.output = lowering.getPointer(tile);
  call.outputRow = blockColumns;
  callProduct(lowering, types, call);
  finish(tile, batch, firstRow, call.rows, firstColumn, call.columns);
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

bool alula::cpu::emitBlockProduct(stablehlo::DotGeneralOp dot,
                                  Lowering &lowering) {
  return BlockProduct(dot, lowering).emit();
}
