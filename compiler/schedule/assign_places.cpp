// Decides where every launch writes.
//   dispatch.launch …  →  dispatch.launch … {places = [#dispatch.place<arena 0>]}
// A value that is returned is computed in the caller's memory; the others share
// an arena whose size becomes the function's `dispatch.arena_bytes`.

#include "compiler/schedule/arena_plan.h"
#include "compiler/schedule/passes.h"
#include "dialect/dispatch/byte_size.h"
#include "dialect/dispatch/ops.h"

namespace alula::schedule {
#define GEN_PASS_DEF_ASSIGNPLACES
#include "compiler/schedule/passes.h.inc"
} // namespace alula::schedule

using namespace mlir;
using alula::dispatch::getByteSize;
using alula::dispatch::LaunchOp;
using alula::dispatch::PlaceAttr;
using alula::dispatch::PlaceKind;
using namespace alula::schedule;

namespace {
struct AssignPlaces
    : public alula::schedule::impl::AssignPlacesBase<AssignPlaces> {
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    Block &body = getOperation().front();
    // The first return of a value decides; a second one is a copy.
    DenseMap<Value, int64_t> returned;
    for (auto [index, value] :
         llvm::enumerate(body.getTerminator()->getOperands()))
      returned.try_emplace(value, static_cast<int64_t>(index));

    SmallVector<Value> values;
    SmallVector<Lifetime> lifetimes;
    DenseMap<Operation *, int64_t> steps;
    for (Operation &op : body)
      steps[&op] = static_cast<int64_t>(steps.size());
    for (auto launch : body.getOps<LaunchOp>())
      for (Value result : launch.getResults()) {
        std::optional<int64_t> bytes = getByteSize(cast<ShapedType>(result.getType()));
        if (!bytes) {
          launch.emitError() << "'dispatch.launch': size of a result must be "
                                "known: "
                             << result.getType();
          return signalPassFailure();
        }
        if (returned.contains(result))
          continue;
        int64_t last = steps[launch];
        for (Operation *user : result.getUsers())
          last = std::max(last, steps[user]);
        values.push_back(result);
        lifetimes.push_back({*bytes, steps[launch], last});
      }

    ArenaPlan plan = planArena(lifetimes);
    DenseMap<Value, int64_t> offsets;
    for (auto [value, offset] : llvm::zip_equal(values, plan.offsets))
      offsets[value] = offset;
    Builder builder(&getContext());
    for (auto launch : body.getOps<LaunchOp>()) {
      SmallVector<Attribute> places;
      for (Value result : launch.getResults()) {
        auto found = returned.find(result);
        places.push_back(
            found != returned.end()
                ? PlaceAttr::get(&getContext(), PlaceKind::Result, found->second)
                : PlaceAttr::get(&getContext(), PlaceKind::Arena,
                                 offsets[result]));
      }
      launch.setPlacesAttr(builder.getArrayAttr(places));
    }
    getOperation()->setAttr("dispatch.arena_bytes",
                            builder.getI64IntegerAttr(plan.bytes));
  }
};
} // namespace
