// Matrix products by workgroups, each a tile of the result: the library
// computes its sums (library/block_product.c), by tensor cores where there are
// some for the type, and threads finish and store them.
//   for each tile (workgroups):
//     alula_block_product_bf16(lhs, rhs, …, row, column)
//     for each of its elements (threads): epilogue(alula_block_sum(i, j)) →
//     memory
// Small ones, and those whose dimensions lie in another order, are a thread for
// each element.

#include "compiler/kernel/element/scalar.h"
#include "compiler/kernel/plan/forms.h"
#include "compiler/kernel/share_threads.h"
#include "compiler/target/cpu/kernel/families.h"
#include "compiler/target/cuda/kernel/families.h"

#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace alula::cuda;
using namespace alula::kernel;
using Predicate = arith::CmpIPredicate;

namespace {
/// Of a tile, and of the workgroups that compute it, as the library has them.
constexpr int64_t tileRows = 128, tileColumns = 64, tileThreads = 256;
/// Less is not worth a tile.
constexpr int64_t leastSize = 16, leastSteps = 1 << 16;

/// Several dimensions as one: its size, and where its next element is.
struct Line {
  int64_t size = 1, stride = 1;
};

/// Nothing if they don't lie one in the other.
std::optional<Line> findLine(RankedTensorType type, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> strides(static_cast<size_t>(type.getRank()), 1);
  for (int64_t dim = type.getRank() - 1; dim > 0; --dim)
    strides[static_cast<size_t>(dim - 1)] =
        strides[static_cast<size_t>(dim)] * type.getDimSize(dim);
  Line line;
  bool isFirst = true;
  for (int64_t dim : llvm::reverse(dims)) {
    int64_t size = type.getDimSize(dim),
            stride = strides[static_cast<size_t>(dim)];
    if (size == 1)
      continue;
    if (!isFirst && stride != line.stride * line.size)
      return std::nullopt;
    if (isFirst)
      line.stride = stride;
    isFirst = false;
    line.size *= size;
  }
  return line;
}

/// One operand: its free dimensions, and those that are contracted.
struct Side {
  Line free, depth;
  SmallVector<int64_t> batchStrides;

  bool isKnown() const { return free.stride == 1 || depth.stride == 1; }
};

class TileEmitter {
public:
  TileEmitter(stablehlo::DotGeneralOp dot, Lowering &lowering)
      : dot(dot), lowering(lowering), numbers(dot.getDotDimensionNumbers()),
        lhsFree(collectFreeDims(dot, /*isLhs=*/true)),
        rhsFree(collectFreeDims(dot, /*isLhs=*/false)) {}

  /// False if it is done in another way.
  bool emit() {
    if (!isPossible())
      return false;
    OpResult result = dot->getResult(0);
    Value final = lowering.getFinalResult(result);
    Value lhsBuffer = lowering.getBuffer(dot.getLhs());
    Value rhsBuffer = lowering.getBuffer(dot.getRhs());
    Value buffer = lowering.createResult(final);
    int64_t rows = lhs.free.size, columns = rhs.free.size;
    SmallVector<Value> grid;
    for (int64_t dim : numbers.getLhsBatchingDimensions())
      grid.push_back(lowering.getDim(dot.getLhs(), dim));
    size_t batchRank = grid.size();
    grid.push_back(lowering.index(llvm::divideCeil(rows, tileRows)));
    grid.push_back(lowering.index(llvm::divideCeil(columns, tileColumns)));

    ImplicitLocOpBuilder &b = lowering.b;
    OpBuilder::InsertionGuard guard(b);
    // A loop of one iteration would be folded, and its threads with it.
    Value tiles = lowering.product(grid);
    bool isSingle = getConstantIntValue(tiles) == 1;
    auto loop = b.create<scf::ParallelOp>(
        ValueRange{lowering.index(0)},
        ValueRange{isSingle ? lowering.index(2) : tiles},
        ValueRange{lowering.index(1)});
    setForWorkgroups(loop);
    b.setInsertionPoint(loop.getBody()->getTerminator());
    Reader::Scope scope(lowering);
    Value number = loop.getInductionVars().front();
    if (isSingle) {
      Value isFirst =
          lowering.compare(Predicate::eq, number, lowering.index(0));
      auto branch = b.create<scf::IfOp>(isFirst);
      b.setInsertionPoint(branch.thenBlock()->getTerminator());
    }
    SmallVector<Value> place = lowering.delinearize(number, grid);
    auto batch = ArrayRef<Value>(place).take_front(batchRank);
    Value row = lowering.mul(place[batchRank], lowering.index(tileRows));
    Value column =
        lowering.mul(place[batchRank + 1], lowering.index(tileColumns));
    SmallVector<Value> arguments{
        getPointer(dot.getLhs(), lhsBuffer, lhs, batch),
        getPointer(dot.getRhs(), rhsBuffer, rhs, batch)};
    for (int64_t number : {rows, columns, lhs.depth.size, lhs.free.stride,
                           lhs.depth.stride, rhs.free.stride, rhs.depth.stride})
      arguments.push_back(makeInteger(lowering, b.getI64Type(), number));
    for (Value number : {row, column})
      arguments.push_back(toI64(number));
    Type element = getElementType(dot.getLhs());
    lowering.callLibrary("alula_block_product_" +
                             StringRef(element.isBF16()  ? "bf16"
                                       : element.isF16() ? "f16"
                                                         : "f32"),
                         arguments);
    Type stored = getElementType(dot.getResult());
    lowering.forEach(
        {lowering.index(tileRows), lowering.index(tileColumns)},
        [&](ValueRange inTile) {
          Value i = lowering.add(row, inTile[0]),
                j = lowering.add(column, inTile[1]);
          auto store = [&] {
            Value sum =
                lowering.callLibrary("alula_block_sum", b.getF32Type(),
                                     {toI64(inTile[0]), toI64(inTile[1])});
            SmallVector<Value> indices(batch);
            llvm::append_range(indices, split(i, dot.getLhs(), lhsFree));
            llvm::append_range(indices, split(j, dot.getRhs(), rhsFree));
            lowering.storeFinal(result, roundSum(lowering, sum, stored), buffer,
                                indices);
          };
          if (rows % tileRows == 0 && columns % tileColumns == 0)
            return store();
          Value isInside = b.create<arith::AndIOp>(
              lowering.compare(Predicate::ult, i, lowering.index(rows)),
              lowering.compare(Predicate::ult, j, lowering.index(columns)));
          lowering.choose(
              isInside, {},
              [&] {
                store();
                return SmallVector<Value>();
              },
              [] { return SmallVector<Value>(); });
        });
    return true;
  }

private:
  bool isPossible() {
    auto left = cast<RankedTensorType>(dot.getLhs().getType());
    auto right = cast<RankedTensorType>(dot.getRhs().getType());
    Type element = left.getElementType();
    if (!left.hasStaticShape() || !right.hasStaticShape() ||
        right.getElementType() != element ||
        !(element.isBF16() || element.isF16() || element.isF32()) ||
        !getSumType(getElementType(dot.getResult())).isF32() ||
        dot.getAlgorithmAttr() || lowering.machine.blockThreads != tileThreads)
      return false;
    return findSide(left, lhsFree, numbers.getLhsContractingDimensions(),
                    numbers.getLhsBatchingDimensions(), lhs) &&
           findSide(right, rhsFree, numbers.getRhsContractingDimensions(),
                    numbers.getRhsBatchingDimensions(), rhs) &&
           lhs.free.size >= leastSize && rhs.free.size >= leastSize &&
           lhs.depth.size >= leastSize &&
           lhs.free.size * rhs.free.size >= leastSteps / lhs.depth.size;
  }

  static bool findSide(RankedTensorType type, ArrayRef<int64_t> free,
                       ArrayRef<int64_t> contracted, ArrayRef<int64_t> batch,
                       Side &side) {
    auto freeLine = findLine(type, free), depth = findLine(type, contracted);
    if (!freeLine || !depth)
      return false;
    side.free = *freeLine;
    side.depth = *depth;
    for (int64_t dim : batch) {
      int64_t stride = 1;
      for (int64_t later = dim + 1; later < type.getRank(); ++later)
        stride *= type.getDimSize(later);
      side.batchStrides.push_back(stride);
    }
    return side.isKnown();
  }

  Value toI64(Value number) {
    return lowering.b.create<arith::IndexCastOp>(lowering.b.getI64Type(),
                                                 number);
  }

  /// Where a matrix of a batch begins.
  Value getPointer(Value tensor, Value buffer, const Side &side,
                   ArrayRef<Value> batch) {
    Value pointer = lowering.getPointer(buffer);
    if (batch.empty())
      return pointer;
    Value offset = lowering.index(0);
    for (auto [number, stride] : llvm::zip_equal(batch, side.batchStrides))
      offset =
          lowering.add(offset, lowering.mul(number, lowering.index(stride)));
    return lowering.b.create<LLVM::GEPOp>(pointer.getType(),
                                          getMemoryType(getElementType(tensor)),
                                          pointer, ValueRange{toI64(offset)});
  }

  SmallVector<Value> split(Value number, Value tensor, ArrayRef<int64_t> dims) {
    SmallVector<Value> sizes;
    for (int64_t dim : dims)
      sizes.push_back(lowering.getDim(tensor, dim));
    return sizes.empty() ? SmallVector<Value>()
                         : lowering.delinearize(number, sizes);
  }

  stablehlo::DotGeneralOp dot;
  Lowering &lowering;
  stablehlo::DotDimensionNumbersAttr numbers;
  SmallVector<int64_t> lhsFree, rhsFree;
  Side lhs, rhs;
};
} // namespace

void alula::cuda::emitDotGeneral(Operation *op, Lowering &lowering) {
  // Inside of a loop over elements there is one thread.
  bool isAlone =
      !isa<scf::ParallelOp>(lowering.b.getInsertionBlock()->getParentOp()) &&
      !lowering.b.getInsertionBlock()
           ->getParentOp()
           ->getParentOfType<scf::ParallelOp>();
  if (!isAlone ||
      !TileEmitter(cast<stablehlo::DotGeneralOp>(op), lowering).emit())
    cpu::emitDotGeneral(op, lowering);
}
