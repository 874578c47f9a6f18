#include "compiler/target/cuda/kernel/warps.h"

#include "compiler/kernel/element/associative.h"
#include "compiler/kernel/element/scalar.h"
#include "compiler/kernel/repeat_arithmetic.h"
#include "compiler/kernel/share_threads.h"
#include "dialect/chlo/functions.h"
#include "dialect/stablehlo/access.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace alula::cuda;
using namespace alula::kernel;
using Predicate = arith::CmpIPredicate;

namespace {
Value getLane(Lowering &lowering) {
  Value thread =
      lowering.callLibrary("alula_block_thread", lowering.b.getIndexType(), {});
  return lowering.rem(thread, lowering.index(lowering.machine.lanes));
}

/// Neighbours that a lane has at once: as many as an access of the machine, if
/// no lane has less to do then.
int64_t countTogether(Lowering &lowering, int64_t columns, ColumnWork work) {
  if (!work.bytes)
    return 1;
  int64_t lanes = lowering.machine.lanes;
  int64_t together =
      std::max<int64_t>(lowering.machine.vectorBytes / work.bytes, 1);
  bool straight = isStraight(lowering, columns, work);
  // A loop is as long as its copies: no more than what registers hold.
  constexpr int64_t mostWork = 128;
  auto isTooMany = [&] {
    return straight
               ? columns / lanes % together != 0
               : columns % together != 0 || columns / together < 2 * lanes ||
                     together * work.ops > mostWork;
  };
  while (together > 1 && isTooMany())
    together /= 2;
  return together;
}
/// Of `count` things, of which neighbouring lanes have neighbours: how many
/// this lane has.
Value countOfLane(Lowering &lowering, int64_t count) {
  int64_t lanes = lowering.machine.lanes;
  if (count % lanes == 0)
    return lowering.index(count / lanes);
  return lowering.ceilDiv(
      lowering.sub(lowering.index(count), getLane(lowering)),
      lowering.index(lanes));
}
/// For each column of this lane, from number `begin` on, which is one of the
/// first: its place in the row, and its number. What is read stays known behind
/// straight code, which is no scope.
SmallVector<Value>
foldOfLane(Lowering &lowering, int64_t begin, int64_t columns, ColumnWork work,
           ValueRange initial,
           llvm::function_ref<SmallVector<Value>(Value column, Value number,
                                                 ValueRange carried)>
               body) {
  int64_t together = countTogether(lowering, columns, work);
  Value lanes = lowering.index(lowering.machine.lanes),
        each = lowering.index(together);
  auto doTogether = [&](Value number, int64_t first, ValueRange carried) {
    SmallVector<Value> state(carried);
    Value group = lowering.add(getLane(lowering), lowering.mul(number, lanes));
    for (int64_t i = first; i < together; ++i)
      state = body(lowering.add(lowering.mul(group, each), lowering.index(i)),
                   lowering.add(lowering.mul(number, each), lowering.index(i)),
                   state);
    return state;
  };
  SmallVector<Value> state(initial);
  Value count = countOfLane(lowering, columns / together);
  int64_t group = begin / together;
  if (isStraight(lowering, columns, work)) {
    for (; group < *getConstantIntValue(count); ++group, begin = 0)
      state = doTogether(lowering.index(group), begin % together, state);
    return state;
  }
  if (begin % together)
    state = doTogether(lowering.index(group++), begin % together, state);
  return lowering.foldRange(lowering.index(group), count, state,
                            [&](ValueRange number, ValueRange carried) {
                              return doTogether(number.front(), 0, carried);
                            });
}

/// The value of the lane whose number differs in the bits of `mask`.
Value exchange(Lowering &lowering, Value value, int64_t mask) {
  ImplicitLocOpBuilder &b = lowering.b;
  Type type = value.getType(), word = b.getI32Type();
  unsigned width = type.getIntOrFloatBitWidth();
  auto shuffle = [&](Value bits) -> Value {
    Value arguments[] = {
        makeInteger(lowering, word, -1), bits,
        makeInteger(lowering, word, mask),
        makeInteger(lowering, word, lowering.machine.lanes - 1)};
    return b
        .create<LLVM::CallIntrinsicOp>(word, "llvm.nvvm.shfl.sync.bfly.i32",
                                       ValueRange(arguments))
        .getResults();
  };
  Value bits = value;
  if (isa<FloatType>(type))
    bits = b.create<arith::BitcastOp>(b.getIntegerType(width), bits);
  if (width > 32) {
    Type wide = b.getI64Type();
    if (width < 64)
      bits = b.create<arith::ExtUIOp>(wide, bits);
    Value half = makeInteger(lowering, wide, 32);
    Value low = shuffle(b.create<arith::TruncIOp>(word, bits));
    Value high = shuffle(
        b.create<arith::TruncIOp>(word, b.create<arith::ShRUIOp>(bits, half)));
    bits = b.create<arith::OrIOp>(
        b.create<arith::ExtUIOp>(wide, low),
        b.create<arith::ShLIOp>(b.create<arith::ExtUIOp>(wide, high), half));
    if (width < 64)
      bits = b.create<arith::TruncIOp>(b.getIntegerType(width), bits);
  } else if (width < 32) {
    bits = shuffle(b.create<arith::ExtUIOp>(word, bits));
    bits = b.create<arith::TruncIOp>(b.getIntegerType(width), bits);
  } else {
    bits = shuffle(bits);
  }
  return isa<FloatType>(type) ? b.create<arith::BitcastOp>(type, bits) : bits;
}
} // namespace

bool alula::cuda::mayUseWarps(Lowering &lowering, int64_t columns) {
  Operation *parent = lowering.b.getInsertionBlock()->getParentOp();
  return lowering.machine.lanes == 32 && columns >= lowering.machine.lanes &&
         !isa<scf::ParallelOp>(parent) &&
         !parent->getParentOfType<scf::ParallelOp>();
}

bool alula::cuda::isStraight(Lowering &lowering, int64_t columns,
                             ColumnWork work) {
  constexpr int64_t mostCopies = 32, mostWork = 1024;
  int64_t lanes = lowering.machine.lanes, copies = columns / lanes;
  return columns % lanes == 0 && copies <= mostCopies &&
         copies * work.ops <= mostWork;
}

ColumnWork alula::cuda::countWork(Lowering &lowering, ArrayRef<Operation *> ops,
                                  int64_t columns) {
  constexpr int64_t ofFunction = 16, ofDivision = 4;
  llvm::SetVector<Operation *> all(ops.begin(), ops.end());
  ColumnWork work;
  auto addTensor = [&](Value tensor) {
    auto type = dyn_cast<RankedTensorType>(tensor.getType());
    if (!type || !type.hasStaticShape() || type.getNumElements() < columns ||
        !type.getElementType().isIntOrFloat())
      return;
    int64_t bytes = getElementBytes(type.getElementType());
    work.bytes = work.bytes ? std::min(work.bytes, bytes) : bytes;
  };
  for (size_t i = 0; i < all.size(); ++i) {
    Operation *op = all[i];
    stablehlo::Cost cost = stablehlo::getElementCost(op);
    work.ops += std::max(chlo::countFormulaOps(op),
                         cost >= stablehlo::Cost::Root       ? ofFunction
                         : cost == stablehlo::Cost::Division ? ofDivision
                                                             : int64_t(1));
    for (Value operand : op->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (producer && lowering.isInlined(operand))
        all.insert(producer);
      else if (!producer || !llvm::is_contained(ops, producer))
        addTensor(operand);
    }
  }
  return work;
}

void alula::cuda::forEachByLanes(Lowering &lowering, int64_t count,
                                 ColumnWork work, LaneBody body) {
  foldOfLane(lowering, 0, count, work, {},
             [&](Value column, Value number, ValueRange) {
               body(column, number);
               return SmallVector<Value>();
             });
}

void alula::cuda::forEachByWarps(Lowering &lowering, ValueRange sizes,
                                 Lowering::Body body) {
  ImplicitLocOpBuilder &b = lowering.b;
  OpBuilder::InsertionGuard guard(b);
  // A loop of one iteration would be folded, and its lanes with it.
  Value count = lowering.product(sizes);
  bool isSingle = getConstantIntValue(count) == 1;
  auto loop = b.create<scf::ParallelOp>(
      ValueRange{lowering.index(0)},
      ValueRange{isSingle ? lowering.index(2) : count},
      ValueRange{lowering.index(1)});
  setForWarps(loop);
  b.setInsertionPoint(loop.getBody()->getTerminator());
  Reader::Scope scope(lowering);
  Value number = loop.getInductionVars().front();
  if (isSingle) {
    Value isFirst = lowering.compare(Predicate::eq, number, lowering.index(0));
    auto branch = b.create<scf::IfOp>(isFirst);
    b.setInsertionPoint(branch.thenBlock()->getTerminator());
  }
  SmallVector<Value> place;
  if (!sizes.empty())
    place = lowering.delinearize(number, sizes);
  body(place);
}

void alula::cuda::doByFirstLane(Lowering &lowering,
                                llvm::function_ref<void()> body) {
  Value isFirst =
      lowering.compare(Predicate::eq, getLane(lowering), lowering.index(0));
  auto nothing = [] { return SmallVector<Value>(); };
  lowering.choose(
      isFirst, {},
      [&] {
        body();
        return nothing();
      },
      nothing);
}

SmallVector<Value> alula::cuda::reduceByLanes(Lowering &lowering,
                                              Reduction &reduction,
                                              stablehlo::ReduceOp reduce,
                                              int64_t columns, ColumnWork work,
                                              PlaceOfColumn getPlace) {
  Block &body = reduce.getBody().front();
  Value lane = getLane(lowering);
  bool isFloatSum = static_cast<bool>(reduction.getFloatSum());
  // Neighbouring lanes read neighbours, where elements may change places; else
  // each has a run, as even as whole numbers can be.
  bool isStrided = isStridedByLanes(reduce, body);
  Value first, end;
  if (!isStrided) {
    auto bound = [&](Value number) {
      return lowering.div(lowering.mul(number, lowering.index(columns)),
                          lowering.index(lowering.machine.lanes));
    };
    first = bound(lane);
    end = lowering.sub(bound(lowering.add(lane, lowering.index(1))), first);
  }
  SmallVector<Value> state{};
  if (isStrided) {
    Value column = lowering.mul(
        lane, lowering.index(countTogether(lowering, columns, work)));
    if (isFloatSum)
      state.push_back(reduction.getNeutral());
    else
      state = reduction.begin(getPlace(column, lowering.index(0)));
    state = foldOfLane(lowering, isFloatSum ? 0 : 1, columns, work, state,
                       [&](Value at, Value number, ValueRange carried) {
                         return reduction.append(carried, getPlace(at, number));
                       });
  } else {
    auto find = [&](Value number) {
      return getPlace(lowering.add(first, number), Value());
    };
    state = lowering.foldRange(
        lowering.index(1), end, reduction.begin(find(lowering.index(0))),
        [&](ValueRange number, ValueRange carried) {
          return reduction.append(carried, find(number.front()));
        });
  }
  for (int64_t mask = 1; mask < lowering.machine.lanes; mask *= 2) {
    SmallVector<Value> others = llvm::map_to_vector(
        state, [&](Value value) { return exchange(lowering, value, mask); });
    if (isStrided) {
      state = reduction.combine(state, others);
      continue;
    }
    Value bit = lowering.rem(lowering.div(lane, lowering.index(mask)),
                             lowering.index(2));
    Value isLower = lowering.compare(Predicate::eq, bit, lowering.index(0));
    SmallVector<Value> left, right;
    for (auto [own, other] : llvm::zip_equal(state, others)) {
      left.push_back(lowering.select(isLower, own, other));
      right.push_back(lowering.select(isLower, other, own));
    }
    state = reduction.combine(left, right);
  }
  return reduction.finish(reduction.combine(reduction.getInitial(), state));
}

Value alula::cuda::addNumbers(Lowering &lowering, Value a, Value b) {
  if (isa<FloatType>(a.getType()))
    return lowering.b.create<arith::AddFOp>(a, b);
  return lowering.b.create<arith::AddIOp>(a, b);
}

SmallVector<Value> alula::cuda::sumByLanes(
    Lowering &lowering, int64_t columns, ColumnWork work, ValueRange zeros,
    llvm::function_ref<SmallVector<Value>(Value column, ValueRange carried)>
        addColumn) {
  SmallVector<Value> state =
      foldOfLane(lowering, 0, columns, work, zeros,
                 [&](Value column, Value, ValueRange carried) {
                   return addColumn(column, carried);
                 });
  for (int64_t mask = 1; mask < lowering.machine.lanes; mask *= 2)
    for (Value &sum : state)
      sum = addNumbers(lowering, sum, exchange(lowering, sum, mask));
  return state;
}
