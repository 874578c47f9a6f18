#include "compiler/target/cuda/kernel/warps.h"

#include "compiler/kernel/element/associative.h"
#include "compiler/kernel/element/scalar.h"
#include "compiler/kernel/share_threads.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace alula::cuda;
using namespace alula::kernel;
using Predicate = arith::CmpIPredicate;

namespace {
/// Whether the elements may also change places: the body is one op that does
/// not round.
bool isUnordered(Block &body) {
  if (body.getNumArguments() != 2 || body.getOperations().size() != 2)
    return false;
  Operation &op = body.front();
  bool isBoth = op.getNumOperands() == 2 &&
                op.getOperand(0) != op.getOperand(1) &&
                llvm::is_contained(body.getArguments(), op.getOperand(0)) &&
                llvm::is_contained(body.getArguments(), op.getOperand(1));
  if (!isBoth || body.getTerminator()->getOperand(0) != op.getResult(0))
    return false;
  if (isa<stablehlo::MaxOp, stablehlo::MinOp>(op))
    return true;
  bool isInteger = isa<IntegerType>(getElementType(op.getResult(0)));
  return isInteger && isa<stablehlo::AddOp, stablehlo::MulOp, stablehlo::AndOp,
                          stablehlo::OrOp, stablehlo::XorOp>(op);
}

/// What a shuffle can move, in one or two registers.
bool isMovable(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return integer.getWidth() <= 64;
  return type.isF16() || type.isBF16() || type.isF32() || type.isF64();
}

Value getLane(Lowering &lowering) {
  Value thread =
      lowering.callLibrary("alula_block_thread", lowering.b.getIndexType(), {});
  return lowering.rem(thread, lowering.index(lowering.machine.lanes));
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

bool alula::cuda::isSharedByLanes(Operation *reduce, Block &body,
                                  int64_t columns) {
  // Each lane has an element to begin with.
  constexpr int64_t lanes = 32;
  return columns >= lanes &&
         llvm::all_of(
             body.getArguments(),
             [](Value value) { return isMovable(getElementType(value)); }) &&
         (getFloatSumType(reduce, body) || isUnordered(body) ||
          isAssociative(body));
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

SmallVector<Value> alula::cuda::reduceByLanes(
    Lowering &lowering, Reduction &reduction, Block &body, int64_t columns,
    llvm::function_ref<SmallVector<Value>(Value)> getPlace) {
  Value lane = getLane(lowering);
  Value all = lowering.index(columns),
        lanes = lowering.index(lowering.machine.lanes);
  bool isFloatSum = static_cast<bool>(reduction.getFloatSum());
  // Neighbouring lanes read neighbours, where elements may change places; else
  // each has a run, as even as whole numbers can be.
  bool isStrided = isFloatSum || isUnordered(body);
  Value first = lane, count = lowering.ceilDiv(lowering.sub(all, lane), lanes);
  if (!isStrided) {
    auto bound = [&](Value number) {
      return lowering.div(lowering.mul(number, all), lanes);
    };
    first = bound(lane);
    count = lowering.sub(bound(lowering.add(lane, lowering.index(1))), first);
  }
  auto find = [&](Value number) {
    if (isStrided)
      number = lowering.mul(number, lanes);
    return getPlace(lowering.add(first, number));
  };
  SmallVector<Value> state{};
  if (isFloatSum)
    state.push_back(reduction.getNeutral());
  else
    state = reduction.begin(find(lowering.index(0)));
  state = lowering.foldRange(lowering.index(isFloatSum ? 0 : 1), count, state,
                             [&](ValueRange number, ValueRange carried) {
                               return reduction.append(carried,
                                                       find(number.front()));
                             });
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
