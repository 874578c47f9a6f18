// Products of groups of rows, whose sizes are known when the kernel runs:
//   alula.ragged_rows_product: each row times the matrix of its group
//   alula.ragged_sums_product: sums of products of the rows of each group
// A block is some columns of the result in one group: those of other groups
// follow, so that slices of all blocks take about as long, whichever is large.
//   for each (matrix, columns, group):
//     first, count = rows of the group;  alula_product_f32(c, a, b, …)

#include "compiler/kernel/element/scalar.h"
#include "compiler/target/cpu/kernel/families.h"
#include "compiler/target/cpu/kernel/product_call.h"

#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace alula::cpu;
using namespace alula::kernel;

namespace {
class RaggedProduct {
public:
  RaggedProduct(stablehlo::CustomCallOp op, Lowering &lowering)
      : op(op), lowering(lowering), b(lowering.b),
        sumsRows(op.getCallTargetName() == "alula.ragged_sums_product"),
        types{getElementType(op.getInputs()[0]),
              getElementType(op.getInputs()[1]),
              getElementType(op->getResult(0))} {}

  void emit();

private:
  Value last(Value tensor, int64_t fromEnd) {
    int64_t rank = cast<RankedTensorType>(tensor.getType()).getRank();
    return lowering.getDim(tensor, rank - fromEnd);
  }
  /// What is multiplied, tensors being one matrix each.
  struct Block {
    Value outputLine, leftLine, rightLine;
    Value rows, depth, firstColumn, columns;
  };

  Value chooseColumns();
  void emitBlock(Value matrix, Value firstColumn, Value group);
  /// The sizes of the groups before `group`, together; within the rows.
  Value findFirst(Value matrix, Value group);
  Value getSize(Value matrix, Value group);
  void multiply(const Block &block);
  void multiplyByLibrary(const Block &block);
  void multiplyOneByOne(const Block &block);
  Value countLines(Value buffer);
  /// Zeros in lines of the result from `first`, `count` of them.
  void clear(Value first, Value count, Value firstColumn, Value columnCount);

  stablehlo::CustomCallOp op;
  Lowering &lowering;
  ImplicitLocOpBuilder &b;
  bool sumsRows;
  ProductTypes types;
  Value result, left, right, sizes;
  Value matrices, rows, terms, columns, groups, blockColumns;
};

/// Wide enough for panels, narrow enough for all cores if one group has all
/// rows.
Value RaggedProduct::chooseColumns() {
  constexpr int64_t few = 128, most = 512;
  int64_t width = few;
  if (auto known = getConstantIntValue(columns)) {
    int64_t parts = lowering.machine.cores;
    width = std::clamp<int64_t>(
        llvm::alignTo(llvm::divideCeil(*known, parts), few), few, most);
  }
  return lowering.index(width);
}

void RaggedProduct::emit() {
  Value output = op->getResult(0);
  result = lowering.createResult(output);
  left = lowering.getBuffer(op.getInputs()[0]);
  right = lowering.getBuffer(op.getInputs()[1]);
  sizes = lowering.getBuffer(op.getInputs()[2]);
  rows = last(op.getInputs()[0], 2);
  terms = last(op.getInputs()[0], 1);
  columns = last(output, 1);
  groups = last(op.getInputs()[2], 1);
  blockColumns = chooseColumns();
  SmallVector<Value> shape = lowering.getShape(op.getInputs()[2]);
  matrices = lowering.product(ArrayRef(shape).drop_back());
  // Rows of the result that belong to no group come after those of all groups.
  Value steps = sumsRows ? groups : lowering.add(groups, lowering.index(1));
  SmallVector<Value> grid{matrices, lowering.ceilDiv(columns, blockColumns),
                          steps};
  int64_t share = getConstantIntValue(rows).value_or(1024) /
                  std::max<int64_t>(getConstantIntValue(groups).value_or(1), 1);
  int64_t products = std::max<int64_t>(share, 1) *
                     getConstantIntValue(terms).value_or(1024) *
                     *getConstantIntValue(blockColumns);
  lowering.forEachBlock(
      lowering.product(grid), products / getProductsPerStep(lowering.machine),
      [&](Value number) {
        SmallVector<Value> position = lowering.delinearize(number, grid);
        emitBlock(position[0], lowering.mul(position[1], blockColumns),
                  position[2]);
      });
}

Value RaggedProduct::getSize(Value matrix, Value group) {
  Value all = lowering.createView(sizes, {matrices, groups});
  Value size = b.create<memref::LoadOp>(all, ValueRange{matrix, group});
  return b.create<arith::IndexCastOp>(b.getIndexType(), size);
}

Value RaggedProduct::findFirst(Value matrix, Value group) {
  Value zero = lowering.index(0);
  return lowering.foldRange(
      zero, group, zero, [&](ValueRange before, ValueRange carried) {
        Value end = lowering.add(carried[0], getSize(matrix, before[0]));
        return SmallVector<Value>{lowering.clamp(end, rows)};
      })[0];
}

void RaggedProduct::emitBlock(Value matrix, Value firstColumn, Value group) {
  Value columnCount =
      lowering.min(blockColumns, lowering.sub(columns, firstColumn));
  Value first = findFirst(matrix, group);
  Value rest = lowering.sub(rows, first);
  Value firstRow = lowering.add(lowering.mul(matrix, rows), first);
  Value firstTerm =
      lowering.mul(lowering.add(lowering.mul(matrix, groups), group), terms);
  auto block = [&](Value count) {
    if (sumsRows)
      return Block{firstTerm, firstRow,    firstRow,   terms,
                   count,     firstColumn, columnCount};
    return Block{firstRow, firstRow,    firstTerm,  count,
                 terms,    firstColumn, columnCount};
  };
  auto multiplyGroup = [&]() -> SmallVector<Value> {
    Value count = lowering.clamp(getSize(matrix, group), rest);
    Value hasRows =
        lowering.compare(arith::CmpIPredicate::ne, count, lowering.index(0));
    lowering.choose(
        hasRows, {},
        [&]() -> SmallVector<Value> {
          multiply(block(count));
          return {};
        },
        [&]() -> SmallVector<Value> {
          if (sumsRows)
            clear(firstTerm, terms, firstColumn, columnCount);
          return {};
        });
    return {};
  };
  if (sumsRows) {
    multiplyGroup();
    return;
  }
  Value isGroup = lowering.compare(arith::CmpIPredicate::ult, group, groups);
  lowering.choose(isGroup, {}, multiplyGroup, [&]() -> SmallVector<Value> {
    clear(firstRow, rest, firstColumn, columnCount);
    return {};
  });
}

void RaggedProduct::multiply(const Block &block) {
  // Machines without vectors say that no call is worth it.
  int64_t steps = 1, most = lowering.machine.callSteps;
  for (Value size : {rows, terms, columns})
    steps = std::min(steps, most) *
            std::min(getConstantIntValue(size).value_or(most), most);
  steps < most ? multiplyOneByOne(block) : multiplyByLibrary(block);
}

void RaggedProduct::multiplyByLibrary(const Block &block) {
  Value one = lowering.index(1), zero = lowering.index(0);
  auto place = [&](Value buffer, Value line, Value length, Value column) {
    Value number = lowering.add(lowering.mul(line, length), column);
    return getElementPointer(lowering, buffer, number);
  };
  ProductCall call;
  call.columns = block.columns;
  call.columnLimit = *getConstantIntValue(blockColumns);
  call.outputRow = columns;
  call.output = place(result, block.outputLine, columns, block.firstColumn);
  call.left.pointer = place(left, block.leftLine, terms, zero);
  call.left.rowStride = sumsRows ? one : terms;
  call.left.columnStride = sumsRows ? terms : one;
  call.right.pointer =
      place(right, block.rightLine, columns, block.firstColumn);
  call.right.rowStride = columns;
  call.right.columnStride = one;
  call.rows = block.rows;
  call.depth = block.depth;
  callProduct(lowering, types, call);
}

void RaggedProduct::multiplyOneByOne(const Block &block) {
  auto load = [&](Value buffer, Value line, Value length, Value column,
                  Type element) {
    Value all = lowering.createView(buffer, {countLines(buffer), length});
    Value value = lowering.load(all, {line, column}, element);
    return widenForSum(lowering, op, value, element, types.sum);
  };
  Value output = lowering.createView(result, {countLines(result), columns});
  lowering.forEach({block.rows, block.columns}, [&](ValueRange position) {
    Value column = lowering.add(block.firstColumn, position[1]);
    Value sum = lowering.fold(
        block.depth, lowering.zero(types.sum),
        [&](ValueRange term, ValueRange carried) {
          Value line = sumsRows ? term[0] : position[0];
          Value x = load(left, lowering.add(block.leftLine, line), terms,
                         sumsRows ? position[0] : term[0], types.left);
          Value y = load(right, lowering.add(block.rightLine, term[0]), columns,
                         column, types.right);
          return SmallVector<Value>{
              multiplyAdd(lowering, x, y, carried[0], std::nullopt)};
        })[0];
    Value line = lowering.add(block.outputLine, position[0]);
    b.create<memref::StoreOp>(sum, output, ValueRange{line, column});
  });
}

void RaggedProduct::clear(Value first, Value count, Value firstColumn,
                          Value columnCount) {
  Value zero = lowering.zero(types.sum);
  Value output = lowering.createView(result, {countLines(result), columns});
  lowering.forEach({count, columnCount}, [&](ValueRange position) {
    b.create<memref::StoreOp>(
        zero, output,
        ValueRange{lowering.add(first, position[0]),
                   lowering.add(firstColumn, position[1])});
  });
}

/// Of a tensor, but for the sizes, as one matrix.
Value RaggedProduct::countLines(Value buffer) {
  Value ofGroups = lowering.mul(groups, terms);
  bool hasRows = buffer == left || (buffer == right) == sumsRows;
  return lowering.mul(matrices, hasRows ? rows : ofGroups);
}
} // namespace

void alula::cpu::emitRaggedProduct(Operation *op, Lowering &lowering) {
  // A thread of a GPU can't have a block; programs for them have other ops.
  if (lowering.machine.blockThreads > 1)
    return lowering.decline(op, "for products of groups of rows");
  RaggedProduct(cast<stablehlo::CustomCallOp>(op), lowering).emit();
}
