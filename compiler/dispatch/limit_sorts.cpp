// Says how much of a sort is read, where that is little.
//   sort %x; slice [0:5]  →  sort %x {dispatch.needed = 5}; slice [0:5]
// What is behind may hold anything then: the largest five of a million need no
// order among the others.

#include "compiler/dispatch/passes.h"
#include "dialect/stablehlo/ops.h"

namespace alula::dispatch {
#define GEN_PASS_DEF_LIMITSORTS
#include "compiler/dispatch/passes.h.inc"
} // namespace alula::dispatch

using namespace mlir;

namespace {
/// Each new one of the first takes steps for all of them; more are sorted faster
/// together with the others.
constexpr int64_t maxNeeded = 128, minFactor = 4;

struct LimitSorts : public alula::dispatch::impl::LimitSortsBase<LimitSorts> {
  void runOnOperation() override {
    getOperation().walk([](stablehlo::SortOp sort) {
      auto type = cast<RankedTensorType>(sort.getResult(0).getType());
      auto dim = static_cast<int64_t>(sort.getDimension());
      dim += dim < 0 ? type.getRank() : 0;
      if (!type.hasStaticShape() || type.getRank() == 0)
        return;
      int64_t needed = 0;
      for (Operation *user : sort->getUsers()) {
        auto slice = dyn_cast<stablehlo::SliceOp>(user);
        if (!slice)
          return;
        needed = std::max(needed,
                          slice.getLimitIndices()[static_cast<size_t>(dim)]);
      }
      if (needed > 0 && needed <= maxNeeded &&
          needed * minFactor <= type.getDimSize(static_cast<unsigned>(dim)))
        sort->setAttr("dispatch.needed",
                      Builder(sort).getI64IntegerAttr(needed));
    });
  }
};
} // namespace
