// reduce_window and select_and_scatter.

#include "compiler/kernel/plan/ways.h"
#include "compiler/kernel/reduction.h"
#include "compiler/target/cpu/kernel/families.h"
#include "compiler/target/cpu/kernel/window_walk.h"

#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace alula::cpu;
using namespace alula::kernel;

namespace {
SmallVector<Value> join(ValueRange a, ValueRange b) {
  SmallVector<Value> all(a);
  llvm::append_range(all, b);
  return all;
}

/// The last axes with plain windows are `numInner`; none if they have one
/// element together.
size_t countInner(ArrayRef<WindowAxis> window, ArrayRef<Value> sizes) {
  size_t numInner = 0;
  while (numInner < window.size() &&
         window[window.size() - 1 - numInner].isPlain())
    ++numInner;
  bool isOne = llvm::all_of(sizes.take_back(numInner), [](Value size) {
    return getConstantIntValue(size) == 1;
  });
  return isOne ? 0 : numInner;
}

class WindowReducer {
public:
  WindowReducer(stablehlo::ReduceWindowOp op, Lowering &lowering)
      : op(op), lowering(lowering), input(op.getInputs()[0]),
        window(
            readWindow(op, cast<RankedTensorType>(input.getType()).getRank())),
        sizes(lowering.getShape(op.getResults()[0])),
        reduction(op, op.getBody().front(), op.getInputs(), op.getInitValues(),
                  lowering),
        numInner(countPlainAxes(op)) {}

  void emit() {
    initial = reduction.getInitial();
    reduction.createStates();
    switch (getWay(op)) {
    case alula::plan::Way::Scan:
      emitScan(*findScan(op));
      break;
    case alula::plan::Way::Memory:
      emitInMemory();
      break;
    default:
      emitInRegisters();
    }
    reduction.finishStates();
  }

private:
  void emitInRegisters() {
    lowering.forEach(sizes, [&](ValueRange place) {
      SmallVector<Value> state = walkWindow(
          input, window, place, initial, lowering,
          [&](ValueRange position, ValueRange carried) {
            return reduction.append(carried, position);
          });
      reduction.store(state, place);
    });
  }

  // The innermost loop goes over neighbours that have their own windows.
  void emitInMemory() {
    ArrayRef<Value> all(sizes);
    ArrayRef<Value> inner = all.take_back(numInner);
    lowering.forEach(all.drop_back(numInner), [&](ValueRange place) {
      lowering.forEach(inner, [&](ValueRange at) {
        reduction.store(initial, join(place, at));
      });
      walkWindow(input, ArrayRef(window).drop_back(numInner), place, {},
                 lowering,
                 [&](ValueRange position, ValueRange) -> SmallVector<Value> {
                   lowering.forEach(inner, [&](ValueRange at) {
                     SmallVector<Value> target = join(place, at);
                     reduction.store(reduction.append(reduction.load(target),
                                                      join(position, at)),
                                     target);
                   });
                   return {};
                 });
    });
  }

  // Each state comes from its neighbour's.
  void emitScan(WindowScan scan) {
    ArrayRef<Value> all(sizes);
    ArrayRef<Value> inner = all.drop_front(scan.axis + 1);
    Value count = all[scan.axis], one = lowering.index(1);
    Value last = lowering.sub(count, one);
    lowering.forEach(all.take_front(scan.axis), [&](ValueRange outer) {
      auto at = [&](Value step, ValueRange innerIndices) {
        Value place = scan.isReverse ? lowering.sub(last, step) : step;
        return join(join(outer, place), innerIndices);
      };
      auto advance = [&](ValueRange state, ValueRange indices) {
        return scan.isReverse ? reduction.prepend(state, indices)
                              : reduction.append(state, indices);
      };
      if (inner.empty()) {
        lowering.foldRange(lowering.index(0), count, initial,
                           [&](ValueRange step, ValueRange state) {
                             SmallVector<Value> here = at(step.front(), {});
                             SmallVector<Value> next = advance(state, here);
                             reduction.store(next, here);
                             return next;
                           });
        return;
      }
      lowering.forEach(inner, [&](ValueRange innerIndices) {
        SmallVector<Value> here = at(lowering.index(0), innerIndices);
        reduction.store(advance(initial, here), here);
      });
      lowering.foldRange(
          one, count, {},
          [&](ValueRange step, ValueRange) -> SmallVector<Value> {
            Value before = lowering.sub(step.front(), one);
            lowering.forEach(inner, [&](ValueRange innerIndices) {
              SmallVector<Value> here = at(step.front(), innerIndices);
              reduction.store(
                  advance(reduction.load(at(before, innerIndices)), here),
                  here);
            });
            return {};
          });
    });
  }

  stablehlo::ReduceWindowOp op;
  Lowering &lowering;
  Value input;
  SmallVector<WindowAxis> window;
  SmallVector<Value> sizes; ///< Of the results.
  Reduction reduction;
  size_t numInner;
  SmallVector<Value> initial;
};

class SelectAndScatter {
public:
  SelectAndScatter(stablehlo::SelectAndScatterOp op, Lowering &lowering)
      : op(op), lowering(lowering), operand(op.getOperand()),
        window(readWindow(
            op, cast<RankedTensorType>(operand.getType()).getRank())),
        places(lowering.getShape(op.getSource())),
        reduction(op, op.getScatter().front(), op.getSource(),
                  op.getInitValue(), lowering) {}

  void emit() {
    SmallVector<Value> initial = reduction.getInitial();
    reduction.createStates();
    lowering.forEach(lowering.getShape(op.getResult()),
                     [&](ValueRange indices) {
                       reduction.store(initial, indices);
                     });
    // Windows of one axis may choose the same element; plain axes are apart.
    ArrayRef<Value> all(places);
    size_t numOuter = 0;
    while (numOuter < window.size() && window[numOuter].isPlain())
      ++numOuter;
    size_t numInner =
        countInner(ArrayRef(window).drop_front(numOuter), all.drop_front(numOuter));
    lowering.forEach(all.take_front(numOuter), [&](ValueRange outer) {
      lowering.fold(
          all.drop_front(numOuter).drop_back(numInner), {},
          [&](ValueRange middle, ValueRange) -> SmallVector<Value> {
            lowering.forEach(all.take_back(numInner), [&](ValueRange inner) {
              scatter(join(join(outer, middle), inner));
            });
            return {};
          });
    });
    reduction.finishStates();
  }

private:
  /// Whether there is an element under the window, which one is kept, where.
  void scatter(ArrayRef<Value> place) {
    Type type = getValueType(getElementType(operand));
    SmallVector<Value> nothing{
        lowering.b.create<arith::ConstantOp>(lowering.b.getBoolAttr(false)),
        lowering.zero(type)};
    nothing.append(window.size(), lowering.index(0));
    SmallVector<Value> kept = walkWindow(
        operand, window, place, nothing, lowering,
        [&](ValueRange position, ValueRange carried) {
          Value isFirst = lowering.compare(arith::CmpIPredicate::eq, carried[0],
                                           nothing[0]);
          Value next = lowering.getElement(operand, position);
          Value isKept =
              lowering.call(op.getSelect().front(), {carried[1], next})[0];
          ImplicitLocOpBuilder &b = lowering.b;
          Value isTaken = b.create<arith::OrIOp>(
              isFirst, lowering.compare(arith::CmpIPredicate::eq, isKept,
                                        nothing[0]));
          SmallVector<Value> state{lowering.makeTrue(),
                                   lowering.select(isTaken, next, carried[1])};
          for (auto [at, old] :
               llvm::zip_equal(position, carried.drop_front(2)))
            state.push_back(lowering.select(isTaken, at, old));
          return state;
        });
    ValueRange target = ValueRange(kept).drop_front(2);
    lowering.choose(
        kept[0], {},
        [&]() -> SmallVector<Value> {
          reduction.store(reduction.append(reduction.load(target), place),
                          target);
          return {};
        },
        []() -> SmallVector<Value> { return {}; });
  }

  stablehlo::SelectAndScatterOp op;
  Lowering &lowering;
  Value operand;
  SmallVector<WindowAxis> window;
  SmallVector<Value> places;
  Reduction reduction;
};
} // namespace

void alula::cpu::emitReduceWindow(Operation *op, Lowering &lowering) {
  WindowReducer(cast<stablehlo::ReduceWindowOp>(op), lowering).emit();
}

void alula::cpu::emitSelectAndScatter(Operation *op, Lowering &lowering) {
  SelectAndScatter(cast<stablehlo::SelectAndScatterOp>(op), lowering).emit();
}
