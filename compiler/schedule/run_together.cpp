// Launches that don't need each other, side by side:
//   %a = dispatch.launch @f::@f(%x)
//   %b = dispatch.launch @g::@g(%a)
//   %c = dispatch.launch @h::@h(%x)
//   →  %a = dispatch.launch @f::@f(%x)
//      %c = dispatch.launch @h::@h(%x) {dispatch.beside}
//      %b = dispatch.launch @g::@g(%a)
// where @f and @h have fewer workgroups than there are cores (the kernel room
// says whether one more core is worth waking). Others have work for all cores,
// and later what they make is found in no cache. Sizes are static and nothing
// is computed in place: then launches need no other commands between them.

#include "compiler/schedule/passes.h"
#include "compiler/schedule/steps.h"
#include "dialect/dispatch/machine.h"
#include "dialect/dispatch/ops.h"
#include "dialect/stablehlo/ops.h"

#include "alula/artifact.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/SymbolTable.h"

namespace alula::schedule {
#define GEN_PASS_DEF_RUNTOGETHER
#include "compiler/schedule/passes.h.inc"
} // namespace alula::schedule

using namespace mlir;
using namespace alula::dispatch;

namespace {
/// A launch moves up past so many: then memory is not needed much longer.
constexpr int mostPassed = 8;

struct RunTogether
    : public alula::schedule::impl::RunTogetherBase<RunTogether> {
  void runOnOperation() override {
    SymbolTableCollection tables;
    symbols = &tables;
    for (auto function : getOperation().getOps<func::FuncOp>())
      function.walk([&](Block *block) { moveTogether(*block); });
  }

private:
  /// Neighbours that run together.
  struct Group {
    SmallVector<LaunchOp, 4> members;
    int64_t workgroups = 0;
    int passed = 0;
  };

  void moveTogether(Block &block) {
    SmallVector<Group> groups;
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (!isa<LaunchOp, ViewOp, stablehlo::ConstantOp, tensor::DimOp>(op) &&
          !isa<arith::ArithDialect>(op.getDialect()))
        groups.clear();
      auto launch = dyn_cast<LaunchOp>(op);
      if (!launch)
        continue;
      int64_t workgroups = countNarrow(launch);
      if (workgroups && join(groups, launch, workgroups))
        continue;
      llvm::erase_if(groups,
                     [](Group &group) { return ++group.passed > mostPassed; });
      if (workgroups)
        groups.push_back({{launch}, workgroups, 0});
    }
  }

  bool join(SmallVector<Group> &groups, LaunchOp launch, int64_t workgroups) {
    const int64_t cores = getMachine(launch).cores;
    for (Group &group : groups) {
      SmallVector<Operation *> makers;
      Operation *first = group.members.front();
      if (group.workgroups >= cores ||
          group.members.size() == ALULA_MAX_TOGETHER ||
          !llvm::all_of(launch.getOperands(), [&](Value value) {
            return mayBeThereBefore(value, first, makers);
          }))
        continue;
      for (Operation *maker : makers)
        maker->moveBefore(first);
      launch->moveAfter(group.members.back());
      launch->setAttr(alula::schedule::besideName,
                      UnitAttr::get(launch.getContext()));
      group.members.push_back(launch);
      group.workgroups += workgroups;
      return true;
    }
    return false;
  }

  /// Whether a value is made before an op, once some that compute nothing have
  /// moved there.
  static bool mayBeThereBefore(Value value, Operation *op,
                               SmallVector<Operation *> &moved) {
    Operation *maker = value.getDefiningOp();
    if (!maker || maker->getBlock() != op->getBlock() ||
        maker->isBeforeInBlock(op) || llvm::is_contained(moved, maker))
      return true;
    if (!isa<ViewOp, stablehlo::ConstantOp>(maker) ||
        !llvm::all_of(maker->getOperands(), [&](Value operand) {
          return mayBeThereBefore(operand, op, moved);
        }))
      return false;
    moved.push_back(maker);
    return true;
  }

  /// Workgroups of a launch that others may run beside, else 0.
  int64_t countNarrow(LaunchOp launch) {
    auto isStatic = [](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return !tensor || tensor.hasStaticShape();
    };
    if (!launch.getWorkgroups().empty() || launch.getInPlace() ||
        !llvm::all_of(launch.getOperandTypes(), isStatic) ||
        !llvm::all_of(launch.getResultTypes(), isStatic))
      return 0;
    auto entry = symbols->lookupNearestSymbolFrom<EntryOp>(
        launch, launch.getEntryAttr());
    if (!entry || !entry->hasAttr(narrowName))
      return 0;
    int64_t count = 1;
    for (int64_t size : entry.getWorkgroups())
      count *= size;
    return count;
  }

  SymbolTableCollection *symbols = nullptr;
};
} // namespace
