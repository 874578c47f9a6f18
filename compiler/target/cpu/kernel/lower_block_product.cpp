// Products of reals by tiles of the result: each is a call of the kernel
// library, and the elementwise epilogue is computed while the tile is in the
// cache.
//   for each block:  alula_product_f32(c, a, b, …);  for each (i, j): … c[i, j]
// The blocks are one loop without an order.

#include "compiler/kernel/element/scalar.h"
#include "compiler/kernel/library/few_bits.h"
#include "compiler/kernel/plan/forms.h"
#include "compiler/kernel/plan/plan.h"
#include "compiler/target/cpu/kernel/block_product.h"
#include "compiler/target/cpu/kernel/product_call.h"

#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/bit.h"

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
        final(lowering.getFinalResult(dot->getResult(0))) {
    right.allowPanels();
  }

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
  int64_t countComputedTerms();
  void multiply(ProductCall call, ValueRange batch, Value firstRow,
                Value firstColumn);
  RoutineArguments beginNarrow(const ProductCall &call, ValueRange batch,
                               Value firstRow);
  bool multiplyPanels(const ProductCall &call, ValueRange batch, Value firstRow,
                      Value firstColumn);
  bool multiplyFewRows(const ProductCall &call, ValueRange batch,
                       Value firstRow, Value firstColumn);
  bool multiplyRounded(const ProductCall &call, ValueRange batch,
                       Value firstRow, Value firstColumn);
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
  // Blocks are in the order in which their columns lie in memory.
  bool isBatchInner = hasBatchBetweenColumns(dot, isSwapped) &&
                      *getConstantIntValue(blockRows) <= fewRows;
  if (isBatchInner)
    std::rotate(grid.begin(), grid.begin() + numBatch, grid.end());
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
    if (isBatchInner)
      std::rotate(position.begin(), position.begin() + 2, position.end());
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
  // The product itself, in its own memory: rows are as long as the result's.
  if (!isReadAgain()) {
    Value number = lowering.linearize(batch, left.getBatchSizes());
    number = lowering.add(lowering.mul(number, rows), firstRow);
    number = lowering.add(lowering.mul(number, columns), firstColumn);
    call.output = getElementPointer(lowering, buffer, number);
    call.outputRow = columns;
    return multiply(call, batch, firstRow, firstColumn);
  }
  Value tile = lowering.createTemporary({blockRows, blockColumns}, types.sum);
  call.output = lowering.getPointer(tile);
  call.outputRow = blockColumns;
  multiply(call, batch, firstRow, firstColumn);
  finish(tile, batch, firstRow, call.rows, firstColumn, call.columns);
}

/// What all routines of a right side of few bits begin with: the result and all
/// terms of rows of the left side.
RoutineArguments BlockProduct::beginNarrow(const ProductCall &call,
                                           ValueRange batch, Value firstRow) {
  MatrixBlock rows = left.getBlock(batch, firstRow, call.rows,
                                   lowering.index(0), depth, blockRows, depth);
  RoutineArguments arguments(lowering, call.output);
  arguments.addSize(call.outputRow);
  arguments.add(rows.pointer);
  arguments.addSize(rows.rowStride);
  arguments.addSize(rows.columnStride);
  arguments.addSize(call.rows);
  return arguments;
}

/// Integers of few bits in panels, unless rows are so many that panels of
/// floats are made for them: a few rows, or any if they are rounded to bytes
/// and the machine multiplies these in fours.
bool BlockProduct::multiplyPanels(const ProductCall &call, ValueRange batch,
                                  Value firstRow, Value firstColumn) {
  const NarrowMatrix *matrix = right.getNarrow();
  if (!matrix || !matrix->isInPanels || !left.isInPlace() ||
      !beginsPanels(*matrix, blockColumns))
    return false;
  const alula::dispatch::MachineFacts &machine = lowering.machine;
  int64_t rowLimit = *getConstantIntValue(blockRows);
  bool rounds =
      dot->hasAttr("alula.byte_activations") &&
      alula_rounded_rows_fit(matrix->steps.rows, matrix->steps.rowStep);
  bool isFew = rowLimit <= fewRows;
  if (!isFew && (!rounds || !machine.int8Dot || machine.vectorBytes < 64))
    return false;
  NarrowMatrix here = getMatrix(lowering, *matrix, batch);
  RoutineArguments arguments = beginNarrow(call, batch, firstRow);
  arguments.addPanels(here, firstColumn);
  arguments.addSize(depth);
  arguments.addSize(call.columns);
  arguments.addPanelScales(here, firstColumn);
  arguments.addPanelZeros(here, firstColumn);
  int64_t room =
      isFew ? alula_panel_scratch(rowLimit, *getConstantIntValue(depth))
            : alula_block_scratch(rowLimit);
  arguments.add(lowering.getPointer(lowering.createTemporary(
      {lowering.index(room)}, Float32Type::get(b.getContext()))));
  std::string kind = !isFew ? "block_" : rounds ? "rounded_" : "product_";
  lowering.callLibrary("alula_panel_" + kind + matrix->type, arguments);
  return true;
}

/// A few rows times integers of few bits, which are read as they lie.
bool BlockProduct::multiplyFewRows(const ProductCall &call, ValueRange batch,
                                   Value firstRow, Value firstColumn) {
  const NarrowMatrix *matrix = right.getNarrow();
  if (!matrix || matrix->isInPanels || !types.right.isF32() ||
      !left.isInPlace() || *getConstantIntValue(blockRows) > fewRows)
    return false;
  // Whether lines of integers are rows; what a line has scales for.
  const stablehlo::MatrixLayout &layout = matrix->layout;
  bool byRows = layout.columnStride == 1;
  int64_t line = byRows ? layout.rowStride : layout.columnStride;
  bool fits =
      byRows ? !matrix->steps.columnStep ||
                   (matrix->steps.columns == 1 && matrix->steps.columnStep == 1)
             : alula_columns_fit(matrix->steps.rows, matrix->steps.rowStep);
  if (!fits || (matrix->hasFourBits() &&
                (line % 2 != 0 ||
                 (byRows && *getConstantIntValue(blockColumns) % 2 != 0))))
    return false;
  // Rows may be rounded if the program was compiled so.
  bool rounds = dot->hasAttr("alula.byte_activations") &&
                (!byRows || alula_rounded_rows_fit(matrix->steps.rows,
                                                   matrix->steps.rowStep));
  std::string function = rounds ? "alula_rounded_" : "alula_product_";
  Value zero = lowering.index(0);
  NarrowMatrix here = getMatrix(lowering, *matrix, batch);
  RoutineArguments arguments = beginNarrow(call, batch, firstRow);
  arguments.add(here.integers);
  // Lines that are columns are counted from the first one: so are their scales.
  arguments.addSize(firstColumn);
  arguments.addSize(line);
  arguments.addSize(depth);
  arguments.addSize(call.columns);
  arguments.add(
      getScalePointer(lowering, here, zero, byRows ? firstColumn : zero));
  if (byRows) {
    arguments.addSize(matrix->steps.rows);
    arguments.addSize(matrix->steps.rowStep);
    arguments.addSize(matrix->steps.columnStep);
    lowering.callLibrary(function + "rows_" + matrix->type, arguments);
    return true;
  }
  arguments.addSize(matrix->steps.columns);
  arguments.addSize(matrix->steps.columnStep);
  arguments.addSize(matrix->steps.rows);
  arguments.addSize(matrix->steps.rowStep);
  auto countRoom = rounds ? alula_rounded_scratch : alula_columns_scratch;
  int64_t room =
      countRoom(*getConstantIntValue(blockRows), *getConstantIntValue(depth));
  arguments.add(lowering.getPointer(lowering.createTemporary(
      {lowering.index(room)}, Float32Type::get(b.getContext()))));
  lowering.callLibrary(function + "columns_" + matrix->type, arguments);
  return true;
}

/// Many rows, rounded to bytes, times integers of few bits: where the program
/// was compiled so and vectors of bytes are multiplied in fours.
bool BlockProduct::multiplyRounded(const ProductCall &call, ValueRange batch,
                                   Value firstRow, Value firstColumn) {
  const NarrowMatrix *matrix = right.getNarrow();
  const alula::dispatch::MachineFacts &machine = lowering.machine;
  if (!matrix || matrix->isInPanels || !types.right.isF32() ||
      !left.isInPlace() || !dot->hasAttr("alula.byte_activations") ||
      !machine.int8Dot || machine.vectorBytes < 64 ||
      (matrix->steps.rowStep && matrix->steps.rows % 32 != 0))
    return false;
  const stablehlo::MatrixLayout &layout = matrix->layout;
  bool byRows = layout.columnStride == 1;
  if (matrix->hasFourBits() &&
      ((byRows ? layout.rowStride : layout.columnStride) % 2 != 0 ||
       *getConstantIntValue(blockColumns) % 2 != 0))
    return false;
  Value zero = lowering.index(0);
  NarrowMatrix here = getMatrix(lowering, *matrix, batch);
  RoutineArguments arguments = beginNarrow(call, batch, firstRow);
  arguments.add(here.integers);
  arguments.addSize(layout.rowStride);
  arguments.addSize(layout.columnStride);
  arguments.addSize(depth);
  arguments.addSize(firstColumn);
  arguments.addSize(call.columns);
  arguments.add(getScalePointer(lowering, here, zero, zero));
  arguments.addSize(matrix->steps.rows);
  arguments.addSize(matrix->steps.rowStep);
  arguments.addSize(matrix->steps.columns);
  arguments.addSize(matrix->steps.columnStep);
  arguments.add(lowering.getPointer(lowering.createTemporary(
      {lowering.index(alula_block_scratch(*getConstantIntValue(blockRows)))},
      Float32Type::get(b.getContext()))));
  lowering.callLibrary("alula_rounded_block_" + matrix->type, arguments);
  return true;
}

/// Terms that are computed at once where an operand is not in memory: as many
/// of its rows or columns as a block has stay in half of the cache. A power of
/// two, as scales of blocks want it.
int64_t BlockProduct::countComputedTerms() {
  int64_t lines = 0;
  if (!left.isInPlace())
    lines += *getConstantIntValue(blockRows);
  if (!right.isInPlace())
    lines += *getConstantIntValue(blockColumns);
  int64_t room =
      lowering.machine.getCoreCacheBytes() / 2 /
      (std::max<int64_t>(lines, 1) * (types.sum.getIntOrFloatBitWidth() / 8));
  return std::clamp<int64_t>(
      static_cast<int64_t>(llvm::bit_floor(static_cast<uint64_t>(room))), 64,
      512);
}

/// The sums of a block; as many terms at once as may be computed before.
void BlockProduct::multiply(ProductCall call, ValueRange batch, Value firstRow,
                            Value firstColumn) {
  if (multiplyPanels(call, batch, firstRow, firstColumn) ||
      multiplyFewRows(call, batch, firstRow, firstColumn) ||
      multiplyRounded(call, batch, firstRow, firstColumn))
    return;
  auto terms = getConstantIntValue(depth);
  bool isComputed = !left.isInPlace() || !right.isInPlace();
  int64_t atOnce = countComputedTerms();
  Value limit = isComputed && *terms > atOnce ? lowering.index(atOnce) : depth;
  auto multiplyTerms = [&](Value first, Value count) {
    call.depth = count;
    call.left = left.getBlock(batch, firstRow, call.rows, first, count,
                              blockRows, limit);
    call.right = right.getBlock(batch, first, count, firstColumn, call.columns,
                                limit, blockColumns);
    callProduct(lowering, types, call);
  };
  if (limit == depth)
    return multiplyTerms(lowering.index(0), depth);
  lowering.fold(
      {lowering.ceilDiv(depth, limit)}, {},
      [&](ValueRange number, ValueRange) -> SmallVector<Value> {
        Value first = lowering.mul(number[0], limit);
        Value isLater = b.create<arith::CmpIOp>(arith::CmpIPredicate::ne, first,
                                                lowering.index(0));
        call.adds = b.create<arith::ExtUIOp>(b.getI32Type(), isLater);
        multiplyTerms(first, lowering.min(limit, lowering.sub(depth, first)));
        return {};
      });
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
