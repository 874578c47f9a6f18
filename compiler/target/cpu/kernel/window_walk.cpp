// Loops over the elements under a window.

#include "compiler/target/cpu/kernel/window_walk.h"

#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace alula::cpu;
using namespace alula::kernel;
using Predicate = arith::CmpIPredicate;

namespace {
class Walk {
public:
  Walk(Value input, ArrayRef<WindowAxis> window, ValueRange place,
       Lowering &lowering, WindowStep step)
      : input(input), window(window), place(place), lowering(lowering),
        step(step) {}

  SmallVector<Value> walk(ValueRange carried) {
    size_t dim = position.size();
    if (dim == window.size())
      return step(position, carried);
    const WindowAxis &axis = window[dim];
    if (axis.isPlain())
      return enter(place[dim], carried);
    Value start =
        lowering.sub(lowering.mul(place[dim], lowering.index(axis.stride)),
                     lowering.index(axis.low));
    if (axis.baseDilation != 1)
      return walkHoles(axis, start, carried);
    Value lower = lowering.index(0), upper = lowering.index(axis.size);
    Value size = lowering.getDim(input, static_cast<int64_t>(dim));
    if (axis.low > 0)
      lower = countSteps(lowering.sub(lower, start), axis.windowDilation);
    if (mayPassEnd(axis, getConstantIntValue(size))) {
      Value inside = countSteps(lowering.sub(size, start), axis.windowDilation);
      upper = lowering.b.create<arith::MinSIOp>(upper, inside);
    }
    return walkRange(axis, start, lower, upper, carried);
  }

private:
  SmallVector<Value> enter(Value at, ValueRange carried) {
    position.push_back(at);
    SmallVector<Value> next = walk(carried);
    position.pop_back();
    return next;
  }

  SmallVector<Value> walkRange(const WindowAxis &axis, Value start, Value lower,
                               Value upper, ValueRange carried) {
    auto at = [&](Value offset) {
      return lowering.add(
          start, lowering.mul(offset, lowering.index(axis.windowDilation)));
    };
    if (getConstantIntValue(lower) == 0 && getConstantIntValue(upper) == 1)
      return enter(at(lower), carried);
    return lowering.foldRange(lower, upper, carried,
                              [&](ValueRange offset, ValueRange inner) {
                                return enter(at(offset.front()), inner);
                              });
  }

  // Each place of the window must be asked whether an element is there.
  SmallVector<Value> walkHoles(const WindowAxis &axis, Value start,
                               ValueRange carried) {
    Value size = lowering.getDim(input, static_cast<int64_t>(position.size()));
    Value step = lowering.index(axis.baseDilation);
    return lowering.foldRange(
        lowering.index(0), lowering.index(axis.size), carried,
        [&](ValueRange offset, ValueRange inner) {
          // Before the tensor this is a huge unsigned number.
          Value distance = lowering.add(
              start, lowering.mul(offset.front(),
                                  lowering.index(axis.windowDilation)));
          Value at = lowering.div(distance, step);
          Value isElement = lowering.both(
              lowering.compare(Predicate::sge, distance, lowering.index(0)),
              lowering.both(lowering.compare(Predicate::ult, at, size),
                            lowering.compare(Predicate::eq,
                                             lowering.rem(distance, step),
                                             lowering.index(0))));
          return lowering.choose(
              isElement, inner.getTypes(), [&] { return enter(at, inner); },
              [&] { return llvm::to_vector(inner); });
        });
  }

  /// How many steps it takes to come to `distance` or behind.
  Value countSteps(Value distance, int64_t step) {
    Value zero = lowering.index(0);
    Value rest = lowering.b.createOrFold<arith::MaxSIOp>(distance, zero);
    return lowering.div(lowering.add(rest, lowering.index(step - 1)),
                        lowering.index(step));
  }

  static bool mayPassEnd(const WindowAxis &axis, std::optional<int64_t> size) {
    if (axis.high <= 0)
      return false;
    if (!size)
      return true;
    int64_t reach = (axis.size - 1) * axis.windowDilation;
    int64_t rest = *size + axis.low + axis.high - reach - 1;
    return rest / axis.stride * axis.stride + reach - axis.low >= *size;
  }

  Value input;
  ArrayRef<WindowAxis> window;
  ValueRange place;
  Lowering &lowering;
  WindowStep step;
  SmallVector<Value> position;
};
} // namespace

SmallVector<Value> alula::cpu::walkWindow(Value input,
                                          ArrayRef<WindowAxis> window,
                                          ValueRange place, ValueRange initial,
                                          Lowering &lowering, WindowStep step) {
  return Walk(input, window, place, lowering, step).walk(initial);
}
