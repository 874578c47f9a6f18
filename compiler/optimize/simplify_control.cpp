// Takes branches whose condition is known, and values that a loop only carries
// out of it.
//   %r:2 = while(%i = %a, %w = %b) … do { …; return %j, %w }
//   →  %r = while(%i = %a) … do { …%b…; return %j },  %r#1 is %b

#include "compiler/optimize/loop_values.h"
#include "compiler/optimize/passes.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

namespace alula::optimize {
#define GEN_PASS_DEF_SIMPLIFYCONTROL
#include "compiler/optimize/passes.h.inc"
} // namespace alula::optimize

using namespace mlir;
using namespace alula::optimize;

Region *alula::optimize::getKnownBranch(Operation *op) {
  DenseElementsAttr value;
  if (!isa<stablehlo::IfOp, stablehlo::CaseOp>(op) ||
      !matchPattern(op->getOperand(0), m_Constant(&value)))
    return nullptr;
  APInt number = value.getSplatValue<APInt>();
  if (auto choice = dyn_cast<stablehlo::IfOp>(op))
    return number.isOne() ? &choice.getTrueBranch() : &choice.getFalseBranch();
  // What is out of range takes the last branch.
  unsigned last = op->getNumRegions() - 1;
  int64_t index = number.getSExtValue();
  return &op->getRegion(index < 0 || index > last ? last
                                                  : static_cast<unsigned>(index));
}

bool alula::optimize::isOnlyCarried(stablehlo::WhileOp loop, unsigned number) {
  Block &body = loop.getBody().front();
  return body.getTerminator()->getOperand(number) == body.getArgument(number) &&
         loop.getOperand()[number].getType() == loop.getResult(number).getType();
}

namespace {
void take(Operation *op, Region &branch) {
  Operation *terminator = branch.front().getTerminator();
  SmallVector<Value> results(terminator->getOperands());
  terminator->erase();
  op->getBlock()->getOperations().splice(op->getIterator(),
                                         branch.front().getOperations());
  op->replaceAllUsesWith(results);
  op->erase();
}

void dropCarried(stablehlo::WhileOp loop) {
  llvm::BitVector dropped(loop.getNumResults());
  for (unsigned i = 0; i < loop.getNumResults(); ++i)
    if (isOnlyCarried(loop, i))
      dropped.set(i);
  // Without anything to carry a loop either never ends or never runs.
  if (dropped.none() || dropped.all())
    return;
  OperationState state(loop.getLoc(), loop->getName());
  state.addAttributes(loop->getAttrs());
  for (unsigned i = 0; i < loop.getNumResults(); ++i) {
    if (dropped[i])
      continue;
    state.addOperands(loop->getOperand(i));
    state.addTypes(loop.getResult(i).getType());
  }
  for (Region &region : loop->getRegions()) {
    Block &block = region.front();
    for (unsigned i : dropped.set_bits())
      block.getArgument(i).replaceAllUsesWith(loop->getOperand(i));
  }
  loop.getBody().front().getTerminator()->eraseOperands(dropped);
  for (Region &region : loop->getRegions())
    region.front().eraseArguments(dropped);
  for (Region &region : loop->getRegions())
    state.addRegion()->takeBody(region);
  OpBuilder builder(loop);
  Operation *smaller = builder.create(state);
  unsigned next = 0;
  for (unsigned i = 0; i < loop.getNumResults(); ++i)
    loop.getResult(i).replaceAllUsesWith(
        dropped[i] ? loop->getOperand(i) : smaller->getResult(next++));
  loop->erase();
}

struct SimplifyControl
    : public alula::optimize::impl::SimplifyControlBase<SimplifyControl> {
  void runOnOperation() override {
    // Inner ones first; what is taken has been simplified.
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa<stablehlo::WhileOp, stablehlo::IfOp, stablehlo::CaseOp>(op))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      if (Region *branch = getKnownBranch(op)) {
        take(op, *branch);
        continue;
      }
      if (auto loop = dyn_cast<stablehlo::WhileOp>(op))
        dropCarried(loop);
    }
  }
};
} // namespace
