// Sorting, always stable: short runs by insertion, then merged from memory to
// memory, twice as long each time; long rows by digits, where they have any.

#include "compiler/kernel/plan/sort_order.h"
#include "compiler/kernel/plan/ways.h"
#include "compiler/target/cpu/kernel/families.h"
#include "compiler/target/cpu/kernel/radix_sort.h"

#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace alula::cpu;
using namespace alula::kernel;
using alula::plan::Way;
using Predicate = arith::CmpIPredicate;

namespace {
/// Runs that insertion sorts before they are merged.
constexpr int64_t maxRun = 16;
/// What sorting one element costs, to how many threads it is worth.
constexpr int64_t stepsPerElement = 32;

class SortEmitter {
public:
  SortEmitter(stablehlo::SortOp sort, Lowering &lowering)
      : sort(sort), lowering(lowering), b(lowering.b),
        sizes(lowering.getShape(sort.getInputs()[0])), dim(getSortedDim(sort)) {
  }

  void emit() {
    for (Value result : sort.getResults())
      results.push_back(lowering.createResult(result));
    // Scalars have one order.
    if (sizes.empty()) {
      for (auto [input, result] : llvm::zip_equal(sort.getInputs(), results))
        lowering.store(lowering.getScalar(input), getElementType(input), result,
                       {});
      return;
    }
    SmallVector<Value> rows(sizes);
    rows[dim] = lowering.index(1);
    std::optional<int64_t> size = getConstantIntValue(sizes[dim]);
    Way way = getWay(sort);
    if (way == Way::First) {
      auto needed = sort->getAttrOfType<IntegerAttr>("dispatch.needed");
      if (emitFirstByCalls(sort, results, needed.getInt(), lowering))
        return;
      lowering.forEach(rows,
                       [&](ValueRange row) { sortFirst(row, needed.getInt()); });
      return;
    }
    if (way == Way::Insertion) {
      lowering.forEach(rows, [&](ValueRange row) {
        auto at = [&](Value place) { return replaceDim(row, place); };
        sortRun(row, lowering.index(0), sizes[dim], {results, at});
      });
      return;
    }
    if (way == Way::Digits)
      return emitRadixSort(sort, results, lowering);
    auto createHalves = [&] {
      for (Value input : sort.getInputs())
        halves.push_back(
            lowering.createTemporary({lowering.index(2), sizes[dim]},
                                     getMemoryType(getElementType(input))));
    };
    if (size) {
      lowering.forEachBlock(lowering.product(rows), *size * stepsPerElement,
                            [&](Value number) {
                              createHalves();
                              sortRow(lowering.delinearize(number, rows));
                            });
      return;
    }
    // The host gives such memory once: one row after the other.
    createHalves();
    lowering.fold(rows, {},
                  [&](ValueRange row, ValueRange) -> SmallVector<Value> {
                    sortRow(row);
                    return {};
                  });
  }

private:
  /// Memory of each operand, and where in it an element of the row is.
  struct Memory {
    ArrayRef<Value> buffers;
    llvm::function_ref<SmallVector<Value>(Value place)> at;
  };

  SmallVector<Value> replaceDim(ValueRange row, Value place) {
    SmallVector<Value> indices(row);
    indices[dim] = place;
    return indices;
  }

  SmallVector<Value> load(Memory memory, Value place) {
    SmallVector<Value> values;
    for (auto [input, buffer] :
         llvm::zip_equal(sort.getInputs(), memory.buffers))
      values.push_back(
          lowering.load(buffer, memory.at(place), getElementType(input)));
    return values;
  }

  /// As it is in memory.
  void copy(Memory from, Value source, Memory to, Value target) {
    for (auto [old, fresh] : llvm::zip_equal(from.buffers, to.buffers))
      b.create<memref::StoreOp>(b.create<memref::LoadOp>(old, from.at(source)),
                                fresh, to.at(target));
  }

  Value isBefore(ValueRange a, ValueRange other) {
    SmallVector<Value> arguments;
    for (auto [x, y] : llvm::zip_equal(a, other))
      arguments.append({x, y});
    return lowering.call(sort.getComparator().front(), arguments)[0];
  }

  SmallVector<Value>
  repeat(ValueRange initial,
         llvm::function_ref<Value(ValueRange carried)> condition,
         llvm::function_ref<SmallVector<Value>(ValueRange carried)> body) {
    SmallVector<Location> locations(initial.size(), b.getLoc());
    auto loop = b.create<scf::WhileOp>(initial.getTypes(), initial);
    OpBuilder::InsertionGuard guard(b);
    Block *before = b.createBlock(&loop.getBefore(), {}, initial.getTypes(),
                                  locations);
    {
      Lowering::Scope scope(lowering);
      Value goesOn = condition(before->getArguments());
      b.create<scf::ConditionOp>(goesOn, before->getArguments());
    }
    Block *after =
        b.createBlock(&loop.getAfter(), {}, initial.getTypes(), locations);
    Lowering::Scope scope(lowering);
    b.create<scf::YieldOp>(body(after->getArguments()));
    return llvm::to_vector(ValueRange(loop.getResults()));
  }

  SmallVector<Value> getElements(ValueRange row, Value place) {
    SmallVector<Value> from = replaceDim(row, place);
    return llvm::map_to_vector(sort.getInputs(), [&](Value input) {
      return lowering.getElement(input, from);
    });
  }

  /// Behind the elements from `begin` to before `place` that it is not before;
  /// those after it move by one.
  void insert(ValueRange values, Value begin, Value place, Memory memory) {
    Value one = lowering.index(1);
    Value target = repeat(
        place,
        [&](ValueRange at) {
          Value isFirst = lowering.compare(Predicate::eq, at.front(), begin);
          Type flag = b.getI1Type();
          return lowering.choose(
              isFirst, flag,
              [&]() -> SmallVector<Value> {
                return {b.create<arith::ConstantOp>(b.getBoolAttr(false))};
              },
              [&]() -> SmallVector<Value> {
                Value before = lowering.sub(at.front(), one);
                return {isBefore(values, load(memory, before))};
              })[0];
        },
        [&](ValueRange at) -> SmallVector<Value> {
          Value before = lowering.sub(at.front(), one);
          copy(memory, before, memory, at.front());
          return {before};
        })[0];
    for (auto [input, buffer, value] :
         llvm::zip_equal(sort.getInputs(), memory.buffers, values))
      lowering.store(value, getElementType(input), buffer, memory.at(target));
  }

  /// Places a part of the inputs' row into memory, in order.
  void sortRun(ValueRange row, Value begin, Value end, Memory memory) {
    lowering.foldRange(
        begin, end, {}, [&](ValueRange next, ValueRange) -> SmallVector<Value> {
          insert(getElements(row, next.front()), begin, next.front(), memory);
          return {};
        });
  }

  /// Only so many elements of each row are read: the others are compared with
  /// the last of these, and most are not before it.
  void sortFirst(ValueRange row, int64_t count) {
    auto at = [&](Value place) { return replaceDim(row, place); };
    Memory memory{results, at};
    Value zero = lowering.index(0), limit = lowering.index(count);
    sortRun(row, zero, limit, memory);
    lowering.foldRange(
        limit, sizes[dim], {},
        [&](ValueRange next, ValueRange) -> SmallVector<Value> {
          SmallVector<Value> values = getElements(row, next.front());
          Value last = lowering.index(count - 1);
          return lowering.choose(
              isBefore(values, load(memory, last)), {},
              [&]() -> SmallVector<Value> {
                insert(values, zero, last, memory);
                return {};
              },
              [] { return SmallVector<Value>(); });
        });
  }

  void sortRow(ValueRange row) {
    Value zero = lowering.index(0), one = lowering.index(1);
    Value size = sizes[dim], run = lowering.index(maxRun);
    Value runs = divideUp(size, run);
    auto first = [&](Value place) { return SmallVector<Value>{zero, place}; };
    lowering.foldRange(
        zero, runs, {},
        [&](ValueRange number, ValueRange) -> SmallVector<Value> {
          Value begin = lowering.mul(number.front(), run);
          Value end =
              b.create<arith::MinSIOp>(lowering.add(begin, run), size);
          sortRun(row, begin, end, {halves, first});
          return {};
        });
    // The length of the runs, which half has them, and how many they are.
    Value half = repeat(
        {run, zero, runs},
        [&](ValueRange state) {
          return lowering.compare(Predicate::slt, state[0], size);
        },
        [&](ValueRange state) -> SmallVector<Value> {
          Value pairs = divideUp(state[2], lowering.index(2));
          mergeRuns(state[0], state[1], pairs);
          return {lowering.add(state[0], state[0]),
                  lowering.sub(one, state[1]), pairs};
        })[1];
    auto last = [&](Value place) { return SmallVector<Value>{half, place}; };
    auto target = [&](Value place) { return replaceDim(row, place); };
    lowering.forEach(size, [&](ValueRange place) {
      copy({halves, last}, place.front(), {results, target}, place.front());
    });
  }

  /// Every two runs of a half become one of the other half.
  void mergeRuns(Value length, Value half, Value pairs) {
    Value one = lowering.index(1), size = sizes[dim];
    Value other = lowering.sub(one, half), pair = lowering.add(length, length);
    auto from = [&](Value place) { return SmallVector<Value>{half, place}; };
    auto to = [&](Value place) { return SmallVector<Value>{other, place}; };
    Memory source{halves, from}, target{halves, to};
    auto min = [&](Value x, Value y) -> Value {
      return b.create<arith::MinSIOp>(x, y);
    };
    lowering.foldRange(
        lowering.index(0), pairs, {},
        [&](ValueRange number, ValueRange) -> SmallVector<Value> {
          Value begin = lowering.mul(number.front(), pair);
          Value middle = min(lowering.add(begin, length), size);
          Value end = min(lowering.add(begin, pair), size);
          Value lastLeft = lowering.sub(middle, one);
          Value lastRight = lowering.sub(end, one);
          lowering.foldRange(
              begin, end, {begin, middle},
              [&](ValueRange place, ValueRange heads) -> SmallVector<Value> {
                Value left = heads[0], right = heads[1];
                // Also where a run is at its end something is compared, so that
                // there is nothing to branch on.
                Value isLess = isBefore(load(source, min(right, lastRight)),
                                        load(source, min(left, lastLeft)));
                Value hasLeft = lowering.compare(Predicate::slt, left, middle);
                Value hasRight = lowering.compare(Predicate::slt, right, end);
                Value isTaken = lowering.select(
                    hasLeft, b.create<arith::AndIOp>(hasRight, isLess),
                    lowering.makeTrue());
                copy(source, lowering.select(isTaken, right, left), target,
                     place.front());
                Value step =
                    b.create<arith::IndexCastUIOp>(b.getIndexType(), isTaken);
                return {lowering.add(left, lowering.sub(one, step)),
                        lowering.add(right, step)};
              });
          return {};
        });
  }

  Value divideUp(Value size, Value step) {
    return lowering.div(
        lowering.add(size, lowering.sub(step, lowering.index(1))), step);
  }

  stablehlo::SortOp sort;
  Lowering &lowering;
  ImplicitLocOpBuilder &b;
  SmallVector<Value> sizes;
  size_t dim;
  SmallVector<Value> results;
  /// Two halves for each operand: runs, and what they are merged to.
  SmallVector<Value> halves;
};
} // namespace

void alula::cpu::emitSort(Operation *op, Lowering &lowering) {
  SortEmitter(cast<stablehlo::SortOp>(op), lowering).emit();
}
