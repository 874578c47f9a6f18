// Matrix products by workgroups, each a tile of the result: the library
// computes its sums (library/block_product.c), by tensor cores where there are
// some for the type, and threads finish and store them.
//   for each tile (workgroups):
//     alula_block_product_bf16(lhs, rhs, …, row, column)
//     for each of its elements (threads): epilogue(alula_block_sum(i, j)) →
//     memory
// Few tiles of a long depth are computed in parts, each of a workgroup, which
// threads add up in their order. Small ones, and those whose dimensions lie in
// another order, are a thread for each element.

#include "compiler/kernel/element/scalar.h"
#include "compiler/kernel/element/sum_types.h"
#include "compiler/kernel/plan/forms.h"
#include "compiler/kernel/repeat_arithmetic.h"
#include "compiler/kernel/share_threads.h"
#include "compiler/target/cpu/kernel/families.h"
#include "compiler/target/cuda/kernel/depth_parts.h"
#include "compiler/target/cuda/kernel/families.h"
#include "compiler/target/cuda/kernel/group_product.h"
#include "compiler/target/cuda/kernel/thin_product.h"
#include "compiler/target/cuda/kernel/warps.h"

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
/// What a workgroup computes on any device.
constexpr ProductTile plainTile = {128, 64, 256, 1, 1, "block", ""};
/// The same by tensor cores, where each core has one of these.
constexpr ProductTile largeTile = {128, 128, 128, 8, 1, "block", "_large"};
/// Neighbours that a thread finishes, and what is done for all of them.
constexpr int64_t mostTogether = 8, mostWork = 128;
/// Steps of depth of a part, at least, and a multiple: of stages of the
/// library, and of what it loads at once.
constexpr int64_t partSteps = 256;
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
    final = lowering.getFinalResult(result);
    Value lhsBuffer = lowering.getBuffer(dot.getLhs());
    Value rhsBuffer = lowering.getBuffer(dot.getRhs());
    Value buffer = lowering.createResult(final);
    int64_t rows = lhs.free.size, columns = rhs.free.size;
    chooseTile();
    SmallVector<Value> grid;
    for (int64_t dim : numbers.getLhsBatchingDimensions())
      grid.push_back(lowering.getDim(dot.getLhs(), dim));
    SmallVector<Value> batchSizes(grid);
    size_t batchRank = grid.size();
    int64_t stepsOfPart = chooseSteps();
    int64_t parts = llvm::divideCeil(lhs.depth.size, stepsOfPart);
    DepthParts sums(lowering);
    SmallVector<Value> sumSizes(batchSizes);
    sumSizes.push_back(lowering.index(rows));
    sumSizes.push_back(lowering.index(columns));
    sums.create(parts, sumSizes, sumType);
    grid.push_back(lowering.index(llvm::divideCeil(rows, tile.rows)));
    grid.push_back(lowering.index(llvm::divideCeil(columns, tile.columns)));
    grid.push_back(lowering.index(parts));

    ImplicitLocOpBuilder &b = lowering.b;
    OpBuilder::InsertionGuard guard(b);
    // A loop of one iteration would be folded, and its threads with it.
    Value tiles = lowering.product(grid);
    bool isSingle = getConstantIntValue(tiles) == 1;
    auto loop = b.create<scf::ParallelOp>(
        ValueRange{lowering.index(0)},
        ValueRange{isSingle ? lowering.index(2) : tiles},
        ValueRange{lowering.index(1)});
    setForWorkgroups(loop, tile.threads);
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
    auto [rowTile, columnTile] =
        orderTiles(lowering, tile, ArrayRef(place).slice(batchRank, 2),
                   llvm::divideCeil(rows, tile.rows),
                   llvm::divideCeil(columns, tile.columns));
    Value row = lowering.mul(rowTile, lowering.index(tile.rows));
    Value column = lowering.mul(columnTile, lowering.index(tile.columns));
    Value part = place[batchRank + 2];
    Value firstStep = lowering.mul(part, lowering.index(stepsOfPart));
    Value steps =
        lowering.min(lowering.sub(lowering.index(lhs.depth.size), firstStep),
                     lowering.index(stepsOfPart));
    SmallVector<Value> arguments{
        getPointer(dot.getLhs(), lhsBuffer, lhs, batch, firstStep),
        getPointer(dot.getRhs(), rhsBuffer, rhs, batch, firstStep)};
    auto addNumber = [&](int64_t number) {
      arguments.push_back(makeInteger(lowering, b.getI64Type(), number));
    };
    addNumber(rows);
    addNumber(columns);
    if (parts > 1)
      arguments.push_back(toI64(steps));
    else
      addNumber(lhs.depth.size);
    for (int64_t stride :
         {lhs.free.stride, lhs.depth.stride, rhs.free.stride, rhs.depth.stride})
      addNumber(stride);
    for (Value number : {row, column})
      arguments.push_back(toI64(number));
    lowering.callLibrary(
        ("alula_" + tile.name + "_product_" + kinds + tile.suffix).str(),
        arguments);
    std::string function =
        ("alula_" + tile.name + (sumType.isF32() ? "_sum" : "_sum_i32") +
         tile.suffix)
            .str();
    int64_t together = tile.neighbours > 1 ? 1 : countTogether(bool(sums));
    Type stored = getElementType(dot.getResult());
    bool areWhole = rows % tile.rows == 0 && columns % tile.columns == 0;
    Value height = lowering.index(tile.rows);
    if (!areWhole && columns % tile.columns == 0 && tile.neighbours > 1) {
      // Of the last tile fewer rows, rather than a question of each element.
      height = lowering.min(lowering.sub(lowering.index(rows), row), height);
      areWhole = true;
    }
    lowering.forEach(
        {height, lowering.index(tile.columns / together)},
        [&](ValueRange inTile) {
          Value first = lowering.mul(inTile[1], lowering.index(together));
          Value i = lowering.add(row, inTile[0]),
                j = lowering.add(column, first);
          auto store = [&] {
            SmallVector<Value> at(batch);
            if (sums)
              llvm::append_values(at, i, j);
            else
              at = getIndices(batch, i, j);
            for (int64_t k = 0; k < together; ++k) {
              Value next = lowering.index(k);
              SmallVector<Value> place(at);
              place.back() = lowering.add(at.back(), next);
              Value sum = lowering.callLibrary(
                  function, sumType,
                  {toI64(inTile[0]), toI64(lowering.add(first, next))});
              if (sums)
                sums.store(sum, part, place);
              else
                lowering.storeFinal(result, roundSum(lowering, sum, stored),
                                    buffer, place);
            }
          };
          if (areWhole)
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
    if (areWhole)
      joinNeighbours(tile, *std::prev(b.getInsertionPoint()));
    if (sums) {
      b.setInsertionPointAfter(loop);
      sums.addUp([&](Value sum, ValueRange place) {
        lowering.storeFinal(result, roundSum(lowering, sum, stored), buffer,
                            getIndices(place.drop_back(2),
                                       place.drop_back().back(), place.back()));
      });
    }
    return true;
  }

private:
  void chooseTile() {
    auto type = cast<RankedTensorType>(dot.getLhs().getType());
    GroupSizes sizes = {lhs.free.size, rhs.free.size, lhs.depth.size, 1, true};
    for (const Side *side : {&lhs, &rhs}) {
      sizes.areLinesAligned &= isLineAligned(
          side->free.stride == 1 ? side->depth.stride : side->free.stride);
      sizes.areLinesAligned &= llvm::all_of(side->batchStrides, isLineAligned);
    }
    for (int64_t dim : numbers.getLhsBatchingDimensions())
      sizes.batches *= type.getDimSize(dim);
    // A workgroup of other loops has the threads of small tiles.
    int64_t largeTiles = llvm::divideCeil(sizes.rows, largeTile.rows) *
                         llvm::divideCeil(sizes.columns, largeTile.columns) *
                         sizes.batches;
    bool isLarge = kinds != "f32" && sizes.columns > plainTile.columns &&
                   DepthParts::mayBeUsed(lowering) &&
                   largeTiles >= lowering.machine.cores;
    tile = findGroupTile(lowering, type.getElementType(), sizes)
               .value_or(isLarge ? largeTile : plainTile);
  }

  /// Neighbours in a row that a thread finishes: 16 bytes of what is stored, if
  /// all of them are there, and not too much work.
  int64_t countTogether(bool isPart) {
    auto type = cast<RankedTensorType>(final.getType());
    Type element = isPart ? sumType : getElementType(final);
    int64_t last = isPart ? rhs.free.size : type.getDimSize(type.getRank() - 1);
    if (!element.isIntOrFloat())
      return 1;
    int64_t together = std::min<int64_t>(
        lowering.machine.vectorBytes / getElementBytes(element), mostTogether);
    int64_t ops = 0;
    if (!isPart && final != dot.getResult())
      ops = countWork(lowering, {final.getDefiningOp()}, last).ops;
    while (together > 1 && (last % together || together * ops > mostWork))
      together /= 2;
    return std::max<int64_t>(together, 1);
  }

  /// As many as it has, unless there are too few tiles for the machine.
  int64_t chooseSteps() {
    int64_t depth = lhs.depth.size;
    auto type = cast<RankedTensorType>(dot.getLhs().getType());
    int64_t tiles = llvm::divideCeil(lhs.free.size, tile.rows) *
                    llvm::divideCeil(rhs.free.size, tile.columns);
    for (int64_t dim : numbers.getLhsBatchingDimensions())
      tiles *= type.getDimSize(dim);
    int64_t parts = tiles ? lowering.machine.cores / tiles : 1;
    if (!DepthParts::mayBeUsed(lowering) || parts < 2 || depth < 2 * partSteps)
      return depth;
    return llvm::alignTo(llvm::divideCeil(depth, parts), partSteps);
  }

  SmallVector<Value> getIndices(ValueRange batch, Value i, Value j) {
    SmallVector<Value> indices(batch);
    llvm::append_range(indices, split(i, dot.getLhs(), lhsFree));
    llvm::append_range(indices, split(j, dot.getRhs(), rhsFree));
    return indices;
  }

  bool isPossible() {
    auto left = cast<RankedTensorType>(dot.getLhs().getType());
    auto right = cast<RankedTensorType>(dot.getRhs().getType());
    if (!left.hasStaticShape() || !right.hasStaticShape() ||
        lowering.machine.blockThreads != plainTile.threads || !findKinds())
      return false;
    return findSide(left, lhsFree, numbers.getLhsContractingDimensions(),
                    numbers.getLhsBatchingDimensions(), lhs) &&
           findSide(right, rhsFree, numbers.getRhsContractingDimensions(),
                    numbers.getRhsBatchingDimensions(), rhs) &&
           lhs.free.size >= leastSize && rhs.free.size >= leastSize &&
           lhs.depth.size >= leastSize &&
           lhs.free.size * rhs.free.size >= leastSteps / lhs.depth.size;
  }

  /// What is multiplied, as the library calls it; false if tiles have no code
  /// for it.
  bool findKinds() {
    Type left = getElementType(dot.getLhs()),
         right = getElementType(dot.getRhs());
    sumType = getSumType(getElementType(dot.getResult()));
    auto algorithm = dot.getAlgorithmAttr();
    if (!getByteKind(left).empty() && !getByteKind(right).empty()) {
      ProductTypes types = getProductTypes(dot);
      if (algorithm || !types || !types.sum.isInteger(32))
        return false;
      sumType = types.sum;
      kinds = (getByteKind(left) + "_" + getByteKind(right)).str();
      return true;
    }
    if (!sumType.isF32() ||
        (algorithm && !algorithm.getAccumulationType().isF32()))
      return false;
    if (!getFloatKind(left).empty() && !getFloatKind(right).empty()) {
      kinds = (getFloatKind(left) + "_" + getFloatKind(right)).str();
      return !algorithm;
    }
    if (left != right)
      return false;
    if (left.isF32()) {
      kinds = asksForTf32(algorithm) ? "tf32" : "f32";
      return true;
    }
    kinds = left.isBF16() ? "bf16" : "f16";
    // Products of what is as narrow as that lose nothing.
    return (left.isBF16() || left.isF16()) &&
           (!algorithm || (algorithm.getLhsPrecisionType() == left &&
                           algorithm.getRhsPrecisionType() == left));
  }

  static StringRef getByteKind(Type element) {
    if (!element.isInteger(8))
      return "";
    return element.isUnsignedInteger() ? "u8" : "s8";
  }
  static StringRef getFloatKind(Type element) {
    return isa<Float8E4M3FNType>(element) ? "e4m3"
           : isa<Float8E5M2Type>(element) ? "e5m2"
                                          : "";
  }
  static bool asksForTf32(stablehlo::DotAlgorithmAttr algorithm) {
    return algorithm && algorithm.getNumPrimitiveOperations() == 1 &&
           isa<FloatTF32Type>(algorithm.getLhsPrecisionType()) &&
           isa<FloatTF32Type>(algorithm.getRhsPrecisionType());
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

  /// Where a matrix of a batch begins, from some step of its depth on.
  Value getPointer(Value tensor, Value buffer, const Side &side,
                   ArrayRef<Value> batch, Value firstStep) {
    Value pointer = lowering.getPointer(buffer);
    Value offset = lowering.mul(firstStep, lowering.index(side.depth.stride));
    if (getConstantIntValue(offset) == 0 && batch.empty())
      return pointer;
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
  ProductTile tile = plainTile;
  /// Of the function of the library, and of its sums.
  std::string kinds;
  Type sumType;
  Value final;
};
} // namespace

void alula::cuda::emitDotGeneral(Operation *op, Lowering &lowering) {
  // Inside of a loop over elements there is one thread.
  bool isAlone =
      !isa<scf::ParallelOp>(lowering.b.getInsertionBlock()->getParentOp()) &&
      !lowering.b.getInsertionBlock()
           ->getParentOp()
           ->getParentOfType<scf::ParallelOp>();
  auto dot = cast<stablehlo::DotGeneralOp>(op);
  if (!isAlone ||
      !(TileEmitter(dot, lowering).emit() || emitThinProduct(dot, lowering)))
    cpu::emitDotGeneral(op, lowering);
}
