// Reductions of columns. Tiles of columns are distributed among threads, with
// accumulators in the nearest cache; each accumulator is loaded and stored once
// for several rows.
//   %1 = reduce add %0 across [0] : tensor<4096x4096xf32>
//   →  for each block of 1024 columns:
//        s[j] = initial
//        for 8 rows i at a time:  s[j] += (x[i][j] + x[i+1][j]) + ...
//        %1[j] = s[j]
// Sums of what lies in memory are calls of the library, which does the same.

#include "compiler/target/cpu/kernel/reduce_columns.h"

#include "compiler/kernel/library/sums.h"
#include "compiler/kernel/plan/plan.h"
#include "compiler/kernel/reduction.h"
#include "compiler/target/cpu/kernel/narrow_matrix.h"
#include "compiler/target/cpu/kernel/sum_call.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace alula::cpu;
using namespace alula::kernel;

namespace {
/// Terms of one sum: rounding errors add up.
constexpr int64_t maxGroups = 512;

class ColumnReducer {
public:
  ColumnReducer(stablehlo::ReduceOp reduce, Lowering &lowering)
      : reduce(reduce), lowering(lowering),
        reduction(reduce, reduce.getBody().front(), reduce.getInputs(),
                  reduce.getInitValues(), lowering),
        initial(reduction.getInitial()) {
    Value input = reduce.getInputs()[0];
    auto rank = cast<RankedTensorType>(input.getType()).getRank();
    for (int64_t dim = 0; dim < rank; ++dim) {
      bool isReduced = llvm::is_contained(reduce.getDimensions(), dim);
      (isReduced ? reduced : kept).push_back(dim);
      (isReduced ? terms : columns).push_back(lowering.getDim(input, dim));
    }
    readTile(getStage(reduce).getTile());
  }

  void emit();

private:
  /// Accumulators of the columns of a tile.
  using States = SmallVector<Value>;

  void readTile(ArrayRef<int64_t> tile);

  SmallVector<Value> addRows(ValueRange state, ValueRange column,
                             ValueRange outer, Value first, int64_t count);
  void addRowsToAll(const States &states, ValueRange outer, Value first,
                    int64_t count);
  void addGroups(const States &states, ValueRange outer, Value lower,
                 Value upper);
  void addRest(const States &states, ValueRange outer);
  void addAll(const States &states, ValueRange outer);
  void addInParts(const States &states);
  void reduceBlock();

  bool isCalled();
  int64_t getColumnLimit();
  void callBlocks(ArrayRef<Value> blocks,
                  llvm::function_ref<void(ValueRange)> enterBlock);

  States createStates();
  void storeResult(ValueRange state, ValueRange inside);

  /// Indices in the results.
  SmallVector<Value> getColumn(ValueRange inside) {
    SmallVector<Value> column(block.outer);
    column.push_back(lowering.add(block.first, inside.front()));
    llvm::append_range(column, inside.drop_front());
    return column;
  }
  std::optional<int64_t> multiply(ValueRange sizes) {
    return getConstantIntValue(lowering.product(sizes));
  }

  stablehlo::ReduceOp reduce;
  Lowering &lowering;
  Reduction reduction;
  SmallVector<Value> initial, buffers;
  SmallVector<int64_t> kept, reduced; ///< Dimensions,
  SmallVector<Value> columns, terms;  ///< and their sizes.

  /// The kept dimension that is cut, and into what.
  size_t cut = 0;
  Value length;
  /// Rows of the last reduced dimension are taken in groups of this size, but
  /// for a rest, which may be taken first.
  int64_t rows = 1;
  std::optional<int64_t> rest;
  bool isRestFirst = false;
  Value groups;

  /// The block that is being reduced.
  struct Block {
    /// Indices of the kept dimensions before the cut.
    SmallVector<Value> outer;
    Value first;
    SmallVector<Value> sizes;
  } block;
};

void ColumnReducer::readTile(ArrayRef<int64_t> tile) {
  cut = columns.size() - (tile.size() - 1);
  auto size = getConstantIntValue(columns[cut]);
  length = lowering.index(size ? std::min(tile.front(), *size) : tile.front());
  rows = tile.back();
  if (auto count = getConstantIntValue(terms.back())) {
    rest = *count % rows;
    isRestFirst = terms.size() == 1;
  }
  groups = lowering.div(terms.back(), lowering.index(rows));
}

// ---- Accumulators ----

ColumnReducer::States ColumnReducer::createStates() {
  SmallVector<Value> sizes(ArrayRef(columns).drop_front(cut));
  sizes.front() = length;
  return reduction.createTemporaries(sizes);
}

void ColumnReducer::storeResult(ValueRange state, ValueRange inside) {
  for (auto [result, value, buffer] :
       llvm::zip_equal(reduce.getResults(), reduction.finish(state), buffers))
    lowering.storeFinal(cast<OpResult>(result), value, buffer,
                        getColumn(inside));
}

// ---- Rows ----

// `count` rows from `first` on, at `outer` in the other reduced dimensions.
// They are summed up by themselves, so that an accumulator has fewer roundings.
SmallVector<Value> ColumnReducer::addRows(ValueRange state, ValueRange column,
                                          ValueRange outer, Value first,
                                          int64_t count) {
  auto at = [&](int64_t row) {
    SmallVector<Value> indices(kept.size() + reduced.size());
    for (auto [dim, index] : llvm::zip_equal(kept, column))
      indices[static_cast<size_t>(dim)] = index;
    for (auto [dim, index] :
         llvm::zip_equal(ArrayRef(reduced).drop_back(), outer))
      indices[static_cast<size_t>(dim)] = index;
    indices[static_cast<size_t>(reduced.back())] =
        lowering.add(first, lowering.index(row));
    return indices;
  };
  if (!reduction.getFloatSum()) {
    SmallVector<Value> next(state);
    for (int64_t row = 0; row < count; ++row)
      next = reduction.append(next, at(row));
    return next;
  }
  std::function<Value(int64_t, int64_t)> sum = [&](int64_t lower,
                                                   int64_t upper) {
    if (upper - lower == 1)
      return reduction.begin(at(lower))[0];
    int64_t middle = (lower + upper) / 2;
    Value left = sum(lower, middle);
    return reduction.addAsWritten(left, sum(middle, upper));
  };
  if (count == 0)
    return llvm::to_vector(state);
  return {reduction.addAsWritten(state[0], sum(0, count))};
}

void ColumnReducer::addRowsToAll(const States &states, ValueRange outer,
                                 Value first, int64_t count) {
  lowering.forEach(block.sizes, [&](ValueRange inside) {
    reduction.store(addRows(reduction.load(states, inside), getColumn(inside),
                            outer, first, count),
                    states, inside);
  });
}

void ColumnReducer::addGroups(const States &states, ValueRange outer,
                              Value lower, Value upper) {
  Value start = lowering.index(isRestFirst ? *rest : 0);
  lowering.foldRange(lower, upper, {},
                     [&](ValueRange group, ValueRange) -> SmallVector<Value> {
                       Value first = lowering.add(
                           lowering.mul(group[0], lowering.index(rows)), start);
                       addRowsToAll(states, outer, first, rows);
                       return {};
                     });
}

void ColumnReducer::addRest(const States &states, ValueRange outer) {
  if (isRestFirst || rest == 0)
    return;
  Value first = lowering.mul(groups, lowering.index(rows));
  if (rest)
    return addRowsToAll(states, outer, first, *rest);
  lowering.foldRange(first, terms.back(), {},
                     [&](ValueRange row, ValueRange) -> SmallVector<Value> {
                       addRowsToAll(states, outer, row[0], 1);
                       return {};
                     });
}

// All that is left to reduce at the first indices `outer`.
void ColumnReducer::addAll(const States &states, ValueRange outer) {
  ArrayRef<Value> others = ArrayRef(terms).drop_back().drop_front(outer.size());
  lowering.fold(others, {},
                [&](ValueRange inner, ValueRange) -> SmallVector<Value> {
                  SmallVector<Value> all(outer);
                  llvm::append_range(all, inner);
                  addGroups(states, all, lowering.index(0), groups);
                  addRest(states, all);
                  return {};
                });
}

// The sum of sums of parts: of as many of the last dimensions as are not too
// long, or of pieces of the very last.
void ColumnReducer::addInParts(const States &states) {
  SmallVector<Value> sizes(ArrayRef(terms).drop_back());
  sizes.push_back(groups);
  auto isShort = [&](size_t first) {
    return multiply(ArrayRef(sizes).drop_front(first)).value_or(INT64_MAX) <=
           maxGroups;
  };
  size_t split = sizes.size() - 1;
  bool isCut = !isShort(split);
  while (split > 0 && isShort(split - 1))
    --split;
  States part = createStates();
  auto addPart = [&](llvm::function_ref<void()> add) {
    lowering.forEach(block.sizes, [&](ValueRange inside) {
      reduction.store(reduction.getNeutral(), part, inside);
    });
    add();
    lowering.forEach(block.sizes, [&](ValueRange inside) {
      Value sum = reduction.load(states, inside)[0];
      reduction.store(
          reduction.addAsWritten(sum, reduction.load(part, inside)[0]), states,
          inside);
    });
  };
  Value most = lowering.index(maxGroups);
  lowering.fold(ArrayRef(sizes).take_front(split), {},
                [&](ValueRange outer, ValueRange) -> SmallVector<Value> {
                  if (!isCut) {
                    addPart([&] { addAll(part, outer); });
                    return {};
                  }
                  lowering.foldRange(
                      lowering.index(0), lowering.ceilDiv(groups, most), {},
                      [&](ValueRange number, ValueRange) -> SmallVector<Value> {
                        Value lower = lowering.mul(number[0], most);
                        Value upper =
                            lowering.min(lowering.add(lower, most), groups);
                        addPart([&] { addGroups(part, outer, lower, upper); });
                        return {};
                      });
                  addRest(states, outer);
                  return {};
                });
}

void ColumnReducer::reduceBlock() {
  Value zero = lowering.index(0);
  auto begin = [&](ValueRange inside) {
    return isRestFirst ? addRows(initial, getColumn(inside), {}, zero, *rest)
                       : initial;
  };
  SmallVector<Value> steps(ArrayRef(terms).drop_back());
  steps.push_back(groups);
  auto count = multiply(steps);
  if (isRestFirst && count.value_or(2) <= 1) {
    lowering.forEach(block.sizes, [&](ValueRange inside) {
      storeResult(addRows(begin(inside), getColumn(inside), {},
                          lowering.index(*rest), *count * rows),
                  inside);
    });
    return;
  }
  States states = createStates();
  lowering.forEach(block.sizes, [&](ValueRange inside) {
    reduction.store(begin(inside), states, inside);
  });
  if (reduction.getFloatSum() && count.value_or(INT64_MAX) > maxGroups)
    addInParts(states);
  else
    addAll(states, {});
  lowering.forEach(block.sizes, [&](ValueRange inside) {
    storeResult(reduction.load(states, inside), inside);
  });
}

// ---- Calls ----

/// Whether blocks are matrices, and large, whose sums the library computes as
/// the plan says: all that lies between the rows of one belongs to no other
/// dimension.
bool ColumnReducer::isCalled() {
  constexpr int64_t minTerms = 1 << 11;
  auto result = cast<OpResult>(reduce.getResults()[0]);
  return rows == ALULA_SUM_ROWS && kept[cut] > reduced.back() &&
         lowering.getFinalResult(result) == result &&
         isSumOfLibrary(reduce, reduction, lowering) &&
         *multiply(terms) * getColumnLimit() >= minTerms;
}

int64_t ColumnReducer::getColumnLimit() {
  SmallVector<Value> most(ArrayRef(columns).drop_front(cut));
  most.front() = length;
  return *multiply(most);
}

void ColumnReducer::callBlocks(
    ArrayRef<Value> blocks, llvm::function_ref<void(ValueRange)> enterBlock) {
  Value operand = reduce.getInputs()[0];
  SmallVector<Value> shape = lowering.getShape(operand);
  int64_t columnLimit = getColumnLimit();
  auto getPointer = [&](Value buffer, ValueRange at, ValueRange sizes) {
    return getElementPointer(lowering, buffer, lowering.linearize(at, sizes));
  };
  lowering.forEachBlock(
      lowering.product(blocks), *multiply(terms) * columnLimit,
      [&](Value number) {
        enterBlock(lowering.delinearize(number, blocks));
        SmallVector<Value> column = getColumn(
            SmallVector<Value>(block.sizes.size(), lowering.index(0)));
        SmallVector<Value> place(shape.size(), lowering.index(0));
        for (auto [dim, index] : llvm::zip_equal(kept, column))
          place[static_cast<size_t>(dim)] = index;
        callColumnSums(
            lowering,
            {getPointer(buffers[0], column, columns),
             getPointer(lowering.getBuffer(operand), place, shape),
             lowering.getStrides(shape)[static_cast<size_t>(reduced.back())],
             lowering.product(terms), lowering.product(block.sizes),
             initial[0]},
            columnLimit);
      });
}

void ColumnReducer::emit() {
  for (Value result : reduce.getResults())
    buffers.push_back(
        lowering.createResult(lowering.getFinalResult(cast<OpResult>(result))));
  Value size = columns[cut];
  SmallVector<Value> blocks(ArrayRef(columns).take_front(cut));
  auto known = getConstantIntValue(size);
  bool isOne = known && known == getConstantIntValue(length);
  blocks.push_back(isOne ? lowering.index(1) : lowering.ceilDiv(size, length));
  auto enterBlock = [&](ValueRange at) {
    block.outer = llvm::to_vector(at.drop_back());
    block.first = lowering.mul(at.back(), length);
    bool isWhole =
        known &&
        *known % std::max<int64_t>(*getConstantIntValue(length), 1) == 0;
    block.sizes = {isWhole
                       ? length
                       : lowering.min(length, lowering.sub(size, block.first))};
    llvm::append_range(block.sizes, ArrayRef(columns).drop_front(cut + 1));
  };
  if (isCalled())
    return callBlocks(blocks, enterBlock);
  lowering.forEach(blocks, [&](ValueRange at) {
    enterBlock(at);
    reduceBlock();
  });
}
} // namespace

void alula::cpu::reduceColumns(stablehlo::ReduceOp reduce, Lowering &lowering) {
  ColumnReducer(reduce, lowering).emit();
}
