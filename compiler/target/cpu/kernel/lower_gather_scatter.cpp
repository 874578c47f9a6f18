// gather into memory, and scatter.

#include "compiler/kernel/element/gather.h"
#include "compiler/kernel/element/scalar.h"
#include "compiler/kernel/plan/ways.h"
#include "compiler/target/cpu/kernel/families.h"

#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace alula::cpu;
using namespace alula::kernel;
using Predicate = arith::CmpIPredicate;

// Dimensions of the result after the batch, which share a corner, are inner
// loops.
void alula::cpu::emitGather(Operation *op, Lowering &lowering) {
  Gather gather(op, lowering);
  const WindowMap &map = gather.getMap();
  Value result = op->getResult(0);
  Value buffer = lowering.createResult(result);
  SmallVector<Value> sizes = lowering.getShape(result);
  auto numOuter =
      static_cast<size_t>(map.batchDims.empty() ? 0 : map.batchDims.back() + 1);
  ArrayRef<Value> all(sizes);
  lowering.forEach(all.take_front(numOuter), [&](ValueRange outer) {
    SmallVector<Value> position(outer);
    SmallVector<Value> corner = gather.getCorner(pick(position, map.batchDims));
    lowering.forEach(all.drop_front(numOuter), [&](ValueRange inner) {
      SmallVector<Value> indices(position);
      llvm::append_range(indices, inner);
      lowering.store(gather.getElement(corner, indices), getElementType(result),
                     buffer, indices);
    });
  });
}

namespace {
/// Updates are applied in the order of their indices, as far as two of them can
/// meet: those of different batching positions, or of different places in a
/// dimension where all windows are whole, can't.
class ScatterEmitter {
public:
  ScatterEmitter(stablehlo::ScatterOp scatter, Lowering &lowering)
      : scatter(scatter), lowering(lowering),
        map(WindowMap::ofScatter(scatter)),
        sizes(lowering.getShape(scatter.getUpdates()[0])) {
    for (int64_t dim : map.batchDims)
      (isBatching(dim) ? outer : ordered).push_back(dim);
    for (auto [small, big] : llvm::zip_equal(map.windowDims, map.windowOfBig)) {
      bool isFirst = ordered.empty() || small < ordered.front();
      bool isFree = !llvm::is_contained(map.indexMap, big);
      (isFirst && isFree ? outer : inner).push_back(small);
    }
    llvm::sort(outer);
  }

  void emit() {
    for (unsigned k = 0; k < scatter.getInputs().size(); ++k)
      buffers.push_back(createBuffer(k));
    SmallVector<Value> position(sizes.size());
    auto place = [&](ArrayRef<int64_t> dims, ValueRange values) {
      for (auto [dim, value] : llvm::zip_equal(dims, values))
        position[static_cast<size_t>(dim)] = value;
    };
    lowering.forEach(pick(sizes, outer), [&](ValueRange outerIndices) {
      place(outer, outerIndices);
      if (getWay(scatter) == alula::plan::Way::Free)
        return lowering.forEach(pick(sizes, ordered), [&](ValueRange indices) {
          place(ordered, indices);
          emitWindow(position);
        });
      lowering.fold(pick(sizes, ordered), {},
                    [&](ValueRange indices, ValueRange) -> SmallVector<Value> {
                      place(ordered, indices);
                      emitWindow(position);
                      return {};
                    });
    });
  }

private:
  bool isBatching(int64_t small) const {
    return llvm::any_of(map.indexBatching, [&](int64_t dim) {
      return map.batchDims[map.getBatchOfIndex(dim)] == small;
    });
  }

  /// A region may work on wider elements than the inputs have.
  Value createBuffer(unsigned k) {
    auto result = cast<OpResult>(scatter.getResults()[k]);
    Value input = scatter.getInputs()[k];
    Type from = getElementType(input), to = getElementType(result);
    if (from == to)
      return lowering.createUpdated(result, input);
    Value buffer = lowering.createResult(result);
    lowering.forEach(lowering.getShape(input), [&](ValueRange indices) {
      Value value = lowering.getElement(input, indices);
      lowering.store(convertScalar(lowering, scatter, value, from, to), to,
                     buffer, indices);
    });
    return buffer;
  }

  /// One window of the updates. One that is partly outside of the inputs is
  /// left out as a whole: the specification has it by element, XLA does not,
  /// and JAX's gradients of gathers count on what XLA does.
  void emitWindow(ArrayRef<Value> position) {
    SmallVector<Value> batch = pick(position, map.batchDims);
    SmallVector<Value> corner(static_cast<size_t>(map.bigRank));
    for (auto [big, index] :
         llvm::zip_equal(map.bigBatching, map.indexBatching))
      corner[static_cast<size_t>(big)] = batch[map.getBatchOfIndex(index)];

    Value isInside = lowering.makeTrue();
    for (auto [k, dim] : llvm::enumerate(map.indexMap)) {
      Value start = map.readIndex(lowering, batch, k);
      corner[static_cast<size_t>(dim)] = start;
      isInside = lowering.both(isInside, isWindowInside(start, dim));
    }
    // What no index and no window names stays at 0, which must exist.
    for (int64_t dim : map.inserted)
      if (Value &start = corner[static_cast<size_t>(dim)]; !start) {
        start = lowering.index(0);
        isInside = lowering.both(isInside, isWindowInside(start, dim));
      }
    lowering.choose(
        isInside, {},
        [&]() -> SmallVector<Value> {
          lowering.forEach(pick(sizes, inner), [&](ValueRange indices) {
            SmallVector<Value> update(position);
            for (auto [small, index] : llvm::zip_equal(inner, indices))
              update[static_cast<size_t>(small)] = index;
            emitUpdate(corner, update);
          });
          return {};
        },
        []() -> SmallVector<Value> { return {}; });
  }

  Value isWindowInside(Value start, int64_t dim) {
    Value size = lowering.getDim(scatter.getInputs()[0], dim);
    const auto *window = llvm::find(map.windowOfBig, dim);
    if (window == map.windowOfBig.end())
      return lowering.compare(Predicate::ult, start, size);
    auto number = window - map.windowOfBig.begin();
    auto small =
        static_cast<size_t>(map.windowDims[static_cast<size_t>(number)]);
    if (getConstantIntValue(sizes[small]) == 1)
      return lowering.compare(Predicate::ult, start, size);
    // Below zero where a window of a dynamic size doesn't fit at all.
    Value limit = lowering.sub(size, sizes[small]);
    return lowering.both(
        lowering.compare(Predicate::sge, start, lowering.index(0)),
        lowering.compare(Predicate::sle, start, limit));
  }

  void emitUpdate(ArrayRef<Value> corner, ArrayRef<Value> update) {
    SmallVector<Value> target(corner);
    for (auto [small, big] : llvm::zip_equal(map.windowDims, map.windowOfBig)) {
      Value &at = target[static_cast<size_t>(big)];
      Value offset = update[static_cast<size_t>(small)];
      at = at ? lowering.add(at, offset) : offset;
    }
    Block &body = scatter.getUpdateComputation().front();
    SmallVector<Value> arguments;
    for (auto [result, buffer] : llvm::zip_equal(scatter.getResults(), buffers))
      arguments.push_back(
          lowering.load(buffer, target, getElementType(result)));
    for (Value updates : scatter.getUpdates()) {
      Type to = getElementType(
          body.getArgument(static_cast<unsigned>(arguments.size())));
      arguments.push_back(convert(lowering.getElement(updates, update),
                                  getElementType(updates), to));
    }
    auto apply = [&]() -> SmallVector<Value> {
      SmallVector<Value> next = lowering.call(body, arguments);
      for (auto [result, buffer, value] :
           llvm::zip_equal(scatter.getResults(), buffers, next))
        lowering.store(value, getElementType(result), buffer, target);
      return {};
    };
    if (auto mayChange = findMayChange(body))
      lowering.choose(lowering.b.create<arith::CmpFOp>(*mayChange, arguments[0],
                                                       arguments[1]),
                      {}, apply, []() -> SmallVector<Value> { return {}; });
    else
      apply();
  }

  /// Of the largest or the least number, by one element after the other: how an
  /// element compares with an update that may change it. Few do, and the next
  /// one for the same element need not wait for its instructions and memory.
  std::optional<arith::CmpFPredicate> findMayChange(Block &body) {
    Operation *extreme = &body.front();
    if (lowering.machine.blockThreads > 1 || buffers.size() != 1 ||
        !isa<stablehlo::MaxOp, stablehlo::MinOp>(extreme) ||
        !extreme->getNextNode()->hasTrait<mlir::OpTrait::IsTerminator>() ||
        !isa<Float32Type, Float64Type>(
            getElementTypeOrSelf(extreme->getResult(0).getType())) ||
        body.getTerminator()->getOperand(0) != extreme->getResult(0) ||
        !llvm::all_of(body.getArguments(),
                      [&](Value argument) {
                        return llvm::is_contained(extreme->getOperands(),
                                                  argument);
                      }) ||
        !llvm::all_of(pick(sizes, inner), [](Value size) {
          return getConstantIntValue(size) == 1;
        }))
      return std::nullopt;
    return isa<stablehlo::MaxOp>(extreme) ? arith::CmpFPredicate::ULE
                                          : arith::CmpFPredicate::UGE;
  }

  Value convert(Value value, Type from, Type to) {
    return from == to ? value
                      : convertScalar(lowering, scatter, value, from, to);
  }

  stablehlo::ScatterOp scatter;
  Lowering &lowering;
  WindowMap map;
  SmallVector<Value> sizes;                   ///< Of the updates.
  SmallVector<Value> buffers;                 ///< Of the results.
  SmallVector<int64_t> outer, ordered, inner; ///< Of the updates.
};
} // namespace

void alula::cpu::emitScatter(Operation *op, Lowering &lowering) {
  ScatterEmitter(cast<stablehlo::ScatterOp>(op), lowering).emit();
}
