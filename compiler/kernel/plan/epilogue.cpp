// Which elementwise ops follow a product block by block.
//   %2 = dot_general %a, %b;  %3 = add %2, %bias;  %4 = maximum %3, %zero
//   → the blocks of %2 are never written as such: %4 is, from each of them
// What is between may be read several times, as x is in x * logistic(x).

#include "compiler/kernel/plan/epilogue.h"

#include "compiler/kernel/plan/forms.h"
#include "dialect/dispatch/ops.h"
#include "dialect/dispatch/short_sum.h"
#include "dialect/stablehlo/element_rules.h"
#include "dialect/stablehlo/ops.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace alula::kernel;

bool alula::kernel::mayFollow(Operation *op, Operation *product) {
  auto shapeOf = [](Value tensor) {
    return cast<RankedTensorType>(tensor.getType()).getShape();
  };
  Value from = product->getResult(0);
  // A region may read what is computed before the op and not before the blocks.
  return stablehlo::isElementwise(op) && op->getNumResults() == 1 &&
         shapeOf(op->getResult(0)) == shapeOf(from) && !shapeOf(from).empty();
}

namespace {
/// `product`, what follows it, and as the last the only one that is read by
/// others.
SmallVector<Operation *>
findEpilogue(Operation *product, const DenseSet<Operation *> &inlined,
             const DenseMap<Operation *, Operation *> &taken,
             const Attentions &attentions) {
  SetVector<Operation *> ops;
  ops.insert(product);
  size_t whole = 1;
  auto countUses = [](Operation *op) {
    return llvm::range_size(op->getResult(0).getUses());
  };
  // Uses of those before the last by others than those seen so far.
  size_t open = 0, openOfLast = countUses(product);
  for (Operation *op = product->getNextNode(); op && open + openOfLast > 0;
       op = op->getNextNode()) {
    auto uses = static_cast<size_t>(
        llvm::count_if(op->getOperands(), [&](Value operand) {
          return ops.contains(operand.getDefiningOp());
        }));
    if (uses == 0)
      continue;
    // What is between has to be inlined, and belongs to one product.
    if (!mayFollow(op, product) || taken.contains(op) || attentions.find(op) ||
        (ops.size() > 1 && !inlined.contains(ops.back())))
      break;
    ops.insert(op);
    open += openOfLast - uses;
    openOfLast = countUses(op);
    if (open == 0)
      whole = ops.size();
  }
  return llvm::to_vector(ops.getArrayRef().take_front(whole));
}

/// Threads have a product's elements one by one, in tiles or not.
bool mayHaveEpilogue(Operation *op) {
  return worksInBlocks(op) ||
         (isa<stablehlo::DotGeneralOp>(op) &&
          !alula::dispatch::isShortSum(op) &&
          alula::dispatch::getMachine(op).blockThreads > 1);
}
} // namespace

Epilogues alula::kernel::planEpilogues(Block &block,
                                       DenseSet<Operation *> &inlined,
                                       const Attentions &attentions) {
  Epilogues epilogues;
  for (Operation &op : block.without_terminator()) {
    if (!mayHaveEpilogue(&op) || attentions.find(&op))
      continue;
    SmallVector<Operation *> ops =
        findEpilogue(&op, inlined, epilogues.ownerOf, attentions);
    Operation *last = ops.back();
    if (last == &op)
      continue;
    inlined.erase(last);
    epilogues.lastOf[&op] = last;
    epilogues.producerOf[last] = &op;
    for (Operation *member : ops)
      epilogues.ownerOf[member] = &op;
  }
  return epilogues;
}
