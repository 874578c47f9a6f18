// Starts collectives early and waits for them late, so that kernels in between
// overlap with communication.
//
//   %a = launch @f(%x)              %a = launch @f(%x)
//   %b = launch @g(%y)              %s = collective_start all_reduce by sum %a
//   %c = collective all_reduce …    %b = launch @g(%y)
//        by sum %a              →   %c = collective_done %s of %a
//   launch @h(%c)                   launch @h(%c)

#include "compiler/schedule/passes.h"
#include "dialect/dispatch/collectives.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace alula::schedule {
#define GEN_PASS_DEF_SPLITCOLLECTIVES
#include "compiler/schedule/passes.h.inc"
} // namespace alula::schedule

using namespace mlir;
using namespace alula::dispatch;

namespace {
/// The later of two ops of a block; null stands for its begin.
Operation *getLater(Operation *a, Operation *b) {
  if (!a || !b)
    return a ? a : b;
  return a->isBeforeInBlock(b) ? b : a;
}

/// Where an op's operand is defined: after this op of its block.
Operation *findMaker(CollectiveOp collective) {
  Operation *maker = collective.getOperand().getDefiningOp();
  return maker && maker->getBlock() == collective->getBlock() ? maker : nullptr;
}

/// The first op of its block that needs the result; else the block's end.
Operation *findFirstUse(CollectiveOp collective) {
  Block *block = collective->getBlock();
  Operation *first = block->getTerminator();
  for (Operation *user : collective.getResult().getUsers()) {
    Operation *ancestor = block->findAncestorOpInBlock(*user);
    if (ancestor->isBeforeInBlock(first))
      first = ancestor;
  }
  return first;
}

/// Splits an op; what it starts stands behind `before`, the last start.
Operation *split(CollectiveOp collective, Operation *before) {
  OpBuilder builder(collective);
  if (Operation *place = getLater(findMaker(collective), before))
    builder.setInsertionPointAfter(place);
  else
    builder.setInsertionPointToStart(collective->getBlock());
  auto start = builder.create<CollectiveStartOp>(
      collective.getLoc(), collective.getType(), collective.getKind(),
      collective.getReduction(), collective.getGroups(),
      collective.getParticipants(), collective.getChannel(),
      collective.getOperand());
  builder.setInsertionPoint(findFirstUse(collective));
  auto done = builder.create<CollectiveDoneOp>(
      collective.getLoc(), collective.getType(), start.getStarted(),
      collective.getOperand());
  collective.getResult().replaceAllUsesWith(done.getResult());
  collective.erase();
  return start;
}

struct SplitCollectives
    : public alula::schedule::impl::SplitCollectivesBase<SplitCollectives> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      function.walk([&](Block *block) {
        Operation *before = nullptr;
        for (auto collective : llvm::to_vector(block->getOps<CollectiveOp>()))
          before = split(collective, before);
      });
  }
};
} // namespace
