// Program points and liveness at them.

#include "compiler/schedule/steps.h"

#include "compiler/schedule/given_memory.h"
#include "dialect/dispatch/collectives.h"
#include "dialect/dispatch/ops.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace alula::schedule;

Steps::Steps(func::FuncOp function) { add(function.front()); }

void Steps::add(Block &block) {
  for (Operation &op : block) {
    if (op.hasAttr(besideName)) {
      begins[&op] = ends[&op] = begins.lookup(op.getPrevNode());
      continue;
    }
    begins[&op] = ends[&op] = next;
    next += 2;
    if (op.getNumRegions() == 0)
      continue;
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        add(inner);
    ends[&op] = next;
    next += 2;
  }
}

unsigned Steps::getDepth(Operation *op) {
  unsigned depth = 0;
  while ((op = op->getParentOp()))
    depth += isa<stablehlo::WhileOp>(op);
  return depth;
}

namespace {
/// Whether an op has read an operand before it writes a result.
bool isReadFirst(OpOperand &use) {
  Operation *op = use.getOwner();
  // It is read until the end; what was started becomes the result.
  if (isa<alula::dispatch::CollectiveDoneOp>(op))
    return use.getOperandNumber() == 0;
  if (isa<alula::dispatch::CollectiveStartOp>(op))
    return false;
  if (!isa<alula::dispatch::LaunchOp, func::CallOp, stablehlo::CustomCallOp>(
          op))
    return true;
  unsigned number = use.getOperandNumber();
  return llvm::any_of(op->getResults(), [&](OpResult result) {
    return getInPlaceOperand(result) == number;
  });
}
} // namespace

int64_t Steps::getLastUse(Value value) const {
  int64_t last = -1;
  Region *home = value.getParentRegion();
  for (OpOperand &use : value.getUses()) {
    Operation *op = use.getOwner();
    if (isa<tensor::DimOp>(op))
      continue;
    last = std::max(last, getBegin(op) + !isReadFirst(use));
    for (; op->getParentRegion() != home; op = op->getParentOp())
      if (isa<stablehlo::WhileOp>(op->getParentOp()))
        last = std::max(last, getEnd(op->getParentOp()));
  }
  return last;
}

LiveRange Steps::getRange(Value value) const {
  int64_t first = 0;
  if (Operation *op = value.getDefiningOp())
    first = op->getNumRegions() ? getEnd(op) : getBegin(op) + 1;
  LiveRange range(first, std::max(first, getLastUse(value)));
  // What a branch returns is the op's value from the branch's end on.
  if (auto *op = value.getDefiningOp())
    for (Region &region : op->getRegions()) {
      int64_t end = getBegin(region.front().getTerminator()) + 1;
      range.add(end, end);
    }
  return range;
}

LiveRange Steps::getCarriedRange(Operation *whileOp, unsigned number) const {
  auto loop = cast<stablehlo::WhileOp>(whileOp);
  LiveRange range;
  // The condition must not overwrite the value: the body or later ops read it.
  Block &body = loop.getBody().front();
  int64_t bodyBegin = getBegin(&body.front());
  range.add(getBegin(loop) + 1,
            std::max(bodyBegin - 1, getLastUse(body.getArgument(number))));
  int64_t bodyEnd = getBegin(body.getTerminator()) + 1;
  range.add(bodyEnd, bodyEnd);
  int64_t after = getEnd(loop);
  range.add(after, std::max(after, getLastUse(loop.getResult(number))));
  return range;
}
