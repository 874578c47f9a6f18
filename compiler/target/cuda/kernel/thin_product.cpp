// Few rows times a matrix, as a decoder's step has them: how fast the matrix
// comes from memory is all that counts.
//   columns lie side by side, [k, n]: a thread has as many of them as an access
//     reads, a warp those of its threads, for a part of the depth
//   columns lie along the depth, [n, k]: a warp has a column, or a part of one,
//     whose elements its lanes share (warps.h)
//   parts are added up in their order by another launch
// All rows have their sums in registers: the matrix is read once.

#include "compiler/target/cuda/kernel/thin_product.h"

#include "compiler/kernel/element/scalar.h"
#include "compiler/kernel/element/sum_types.h"
#include "compiler/kernel/plan/forms.h"
#include "compiler/kernel/repeat_arithmetic.h"
#include "compiler/target/cuda/kernel/depth_parts.h"
#include "compiler/target/cuda/kernel/warps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace alula::cuda;
using namespace alula::kernel;

namespace {
/// More rows are a tile's (lower_dot.cpp).
constexpr int64_t mostRows = 15;
/// Less is a thread's for each element.
constexpr int64_t leastDepth = 64, leastColumns = 32, leastElements = 1 << 14;
/// Sums of a thread, and elements of the matrix that it reads at once.
constexpr int64_t mostSums = 64, mostLoads = 32;
/// Steps of depth of a thread's and of a warp's part, at least; threads that a
/// launch of its own needs.
constexpr int64_t leastSteps = 16, leastWarpSteps = 512, leastThreads = 1 << 10;

struct Side {
  Value tensor;
  RankedTensorType type;
  SmallVector<int64_t> free;
  ArrayRef<int64_t> batch, contracted;
  int64_t lines = 1;
};

class ThinEmitter {
public:
  ThinEmitter(stablehlo::DotGeneralOp dot, Lowering &lowering)
      : dot(dot), lowering(lowering), numbers(dot.getDotDimensionNumbers()),
        sumType(getSumType(getElementType(dot.getResult()))), parts(lowering) {}

  bool emit() {
    if (!isPossible())
      return false;
    // Each of its elements is read for many columns.
    lowering.getBuffer(thin.tensor);
    OpResult result = dot->getResult(0);
    buffer = lowering.createResult(lowering.getFinalResult(result));
    for (int64_t dim : matrix.batch)
      outer.push_back(lowering.index(matrix.type.getDimSize(dim)));
    bool areNeighbours = matrix.free.back() == matrix.type.getRank() - 1;
    if (areNeighbours)
      emitColumnsByThreads();
    else
      emitColumnsByWarps();
    if (parts)
      parts.addUp([&](Value sum, ValueRange place) {
        storeResult(sum, place.take_front(outer.size()), place[outer.size()],
                    place.drop_front(outer.size() + 1));
      });
    return true;
  }

private:
  bool isPossible() {
    thin = makeSide(/*isLhs=*/true);
    matrix = makeSide(/*isLhs=*/false);
    if (!thin.type.hasStaticShape() || !matrix.type.hasStaticShape())
      return false;
    count(thin);
    count(matrix);
    isThinLeft = thin.lines <= mostRows;
    if (!isThinLeft)
      std::swap(thin, matrix);
    for (int64_t dim : matrix.contracted)
      depth *= matrix.type.getDimSize(dim);
    for (int64_t dim : matrix.batch)
      batches *= matrix.type.getDimSize(dim);
    Type element = getElementType(matrix.tensor);
    elementBytes = element.isIntOrFloat() ? getElementBytes(element) : 0;
    int64_t last = matrix.type.getRank() - 1;
    bool liesInOrder =
        !matrix.free.empty() && !matrix.contracted.empty() &&
        (matrix.free.back() == last || matrix.contracted.back() == last);
    return thin.lines <= mostRows && thin.lines > 0 && batches > 0 &&
           liesInOrder && !isa<ComplexType>(sumType) &&
           sumType.isIntOrFloat() && sumType.getIntOrFloatBitWidth() >= 32 &&
           elementBytes > 0 && matrix.lines >= leastColumns &&
           depth >= leastDepth && matrix.lines >= leastElements / depth &&
           lowering.machine.lanes == 32 && lowering.machine.vectorBytes > 0;
  }

  Side makeSide(bool isLhs) {
    Side side;
    side.tensor = isLhs ? dot.getLhs() : dot.getRhs();
    side.type = cast<RankedTensorType>(side.tensor.getType());
    side.free = collectFreeDims(dot, isLhs);
    side.batch = isLhs ? numbers.getLhsBatchingDimensions()
                       : numbers.getRhsBatchingDimensions();
    side.contracted = isLhs ? numbers.getLhsContractingDimensions()
                            : numbers.getRhsContractingDimensions();
    return side;
  }
  static void count(Side &side) {
    for (int64_t dim : side.free)
      side.lines *= side.type.getDimSize(dim);
  }

  SmallVector<Value> getSizes(const Side &side, ArrayRef<int64_t> dims) {
    return llvm::map_to_vector(dims, [&](int64_t dim) -> Value {
      return lowering.index(side.type.getDimSize(dim));
    });
  }

  SmallVector<Value> split(Value number, const Side &side,
                           ArrayRef<int64_t> dims) {
    return dims.empty() ? SmallVector<Value>()
                        : lowering.delinearize(number, getSizes(side, dims));
  }

  Value read(const Side &side, ValueRange batch, ValueRange free,
             ValueRange step) {
    SmallVector<Value> indices(static_cast<size_t>(side.type.getRank()));
    auto place = [&](ArrayRef<int64_t> dims, ValueRange values) {
      for (auto [dim, value] : llvm::zip_equal(dims, values))
        indices[static_cast<size_t>(dim)] = value;
    };
    place(side.batch, batch);
    place(side.free, free);
    place(side.contracted, step);
    return widenForSum(lowering, dot, lowering.getElement(side.tensor, indices),
                       getElementType(side.tensor), sumType);
  }

  /// One step of depth for some columns: sums of all rows, of each for all
  /// columns.
  void addStep(Value step, ValueRange batch,
               ArrayRef<SmallVector<Value>> columns, ArrayRef<Value> elements,
               MutableArrayRef<Value> state) {
    SmallVector<Value> at = split(step, matrix, matrix.contracted);
    for (int64_t row = 0; row < thin.lines; ++row) {
      Value factor =
          read(thin, batch, split(lowering.index(row), thin, thin.free), at);
      for (size_t i = 0; i < columns.size(); ++i) {
        Value &sum = state[static_cast<size_t>(row) * columns.size() + i];
        Value left = factor, right = elements[i];
        if (!isThinLeft)
          std::swap(left, right);
        sum = multiplyAdd(lowering, left, right, sum, depth);
      }
    }
  }

  /// Memory for sums of parts: number, batch, row, column.
  void createSums(int64_t count) {
    SmallVector<Value> sizes(outer);
    sizes.push_back(lowering.index(thin.lines));
    llvm::append_range(sizes, getSizes(matrix, matrix.free));
    parts.create(count, sizes, sumType);
  }

  void store(Value sum, Value part, ValueRange batch, Value row,
             ValueRange column) {
    if (!parts)
      return storeResult(sum, batch, row, column);
    SmallVector<Value> at(batch);
    at.push_back(row);
    llvm::append_range(at, column);
    parts.store(sum, part, at);
  }

  void storeResult(Value sum, ValueRange batch, Value row, ValueRange column) {
    SmallVector<Value> at(batch), rows = split(row, thin, thin.free);
    llvm::append_range(at, isThinLeft ? ValueRange(rows) : column);
    llvm::append_range(at, isThinLeft ? column : ValueRange(rows));
    lowering.storeFinal(
        dot->getResult(0),
        roundSum(lowering, sum, getElementType(dot.getResult())), buffer, at);
  }

  void emitColumnsByThreads() {
    int64_t last = matrix.type.getDimSize(matrix.free.back());
    int64_t together =
        std::max<int64_t>(lowering.machine.vectorBytes / elementBytes, 1);
    while (last % together || together * thin.lines > mostSums ||
           (together > 1 && batches * matrix.lines * depth <
                                leastThreads * leastSteps * together))
      together /= 2;
    int64_t unroll = 8;
    while (depth % unroll || unroll * together > mostLoads)
      unroll /= 2;
    int64_t threads = batches * matrix.lines / together;
    int64_t wanted = 2 * lowering.machine.cores * lowering.machine.blockThreads;
    int64_t steps = depth;
    if (DepthParts::mayBeUsed(lowering) && threads < wanted)
      steps = std::min<int64_t>(
          depth, llvm::alignTo(
                     std::max<int64_t>(
                         leastSteps, llvm::divideCeil(depth * threads, wanted)),
                     static_cast<uint64_t>(unroll)));
    int64_t count = llvm::divideCeil(depth, steps);
    createSums(count);
    SmallVector<Value> grid{lowering.index(count)};
    llvm::append_range(grid, outer);
    llvm::append_range(grid, getSizes(matrix, matrix.free));
    grid.back() = lowering.index(last / together);
    lowering.forEach(grid, [&](ValueRange place) {
      Value part = place.front();
      ValueRange batch = place.drop_front().take_front(outer.size());
      ValueRange group = place.drop_front(1 + outer.size());
      SmallVector<SmallVector<Value>> columns;
      for (int64_t i = 0; i < together; ++i) {
        columns.emplace_back(group);
        columns.back().back() =
            lowering.add(lowering.mul(group.back(), lowering.index(together)),
                         lowering.index(i));
      }
      Value first = lowering.mul(part, lowering.index(steps));
      Value number = lowering.index(steps);
      if (depth % steps)
        number =
            lowering.min(lowering.sub(lowering.index(depth), first), number);
      Value each = lowering.index(unroll);
      SmallVector<Value> zeros(static_cast<size_t>(thin.lines * together),
                               lowering.zero(sumType));
      SmallVector<Value> state = lowering.foldRange(
          lowering.index(0), lowering.div(number, each), zeros,
          [&](ValueRange at, ValueRange carried) {
            SmallVector<Value> next(carried), elements, stepsOf;
            for (int64_t i = 0; i < unroll; ++i) {
              stepsOf.push_back(lowering.add(
                  lowering.add(first, lowering.mul(at.front(), each)),
                  lowering.index(i)));
              for (const auto &column : columns)
                elements.push_back(
                    read(matrix, batch, column,
                         split(stepsOf.back(), matrix, matrix.contracted)));
            }
            for (auto [i, step] : llvm::enumerate(stepsOf))
              addStep(
                  step, batch, columns,
                  ArrayRef(elements).slice(i * columns.size(), columns.size()),
                  next);
            return next;
          });
      for (int64_t row = 0; row < thin.lines; ++row)
        for (auto [i, column] : llvm::enumerate(columns))
          store(state[static_cast<size_t>(row) * columns.size() + i], part,
                batch, lowering.index(row), column);
    });
  }

  void emitColumnsByWarps() {
    int64_t lanes = lowering.machine.lanes;
    int64_t warps = batches * matrix.lines;
    int64_t wanted =
        2 * lowering.machine.cores * lowering.machine.blockThreads / lanes;
    int64_t count = 1;
    while (DepthParts::mayBeUsed(lowering) && warps * count < wanted &&
           depth % (2 * count * lanes * lowering.machine.vectorBytes) == 0 &&
           depth / (2 * count) >= leastWarpSteps)
      count *= 2;
    int64_t steps = depth / count;
    createSums(count);
    SmallVector<Value> grid{lowering.index(count)};
    llvm::append_range(grid, outer);
    llvm::append_range(grid, getSizes(matrix, matrix.free));
    forEachByWarps(lowering, grid, [&](ValueRange place) {
      Value part = place.front();
      ValueRange batch = place.drop_front().take_front(outer.size());
      SmallVector<Value> column(place.drop_front(1 + outer.size()));
      Value first = lowering.mul(part, lowering.index(steps));
      SmallVector<Value> zeros(static_cast<size_t>(thin.lines),
                               lowering.zero(sumType));
      SmallVector<Value> state =
          sumByLanes(lowering, steps, {2 * thin.lines, elementBytes}, zeros,
                     [&](Value at, ValueRange carried) {
                       SmallVector<Value> next(carried);
                       Value step = lowering.add(first, at);
                       Value element =
                           read(matrix, batch, column,
                                split(step, matrix, matrix.contracted));
                       addStep(step, batch, {column}, {element}, next);
                       return next;
                     });
      doByFirstLane(lowering, [&] {
        for (auto [row, sum] : llvm::enumerate(state))
          store(sum, part, batch, lowering.index(static_cast<int64_t>(row)),
                column);
      });
    });
  }

  stablehlo::DotGeneralOp dot;
  Lowering &lowering;
  stablehlo::DotDimensionNumbersAttr numbers;
  Type sumType;
  Side thin, matrix;
  bool isThinLeft = true;
  int64_t depth = 1, batches = 1, elementBytes = 0;
  Value buffer;
  SmallVector<Value> outer;
  DepthParts parts;
};
} // namespace

bool alula::cuda::emitThinProduct(stablehlo::DotGeneralOp dot,
                                  Lowering &lowering) {
  return ThinEmitter(dot, lowering).emit();
}
