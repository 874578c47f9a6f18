// Which elementwise ops follow a product block by block.
//   %2 = dot_general %a, %b;  %3 = add %2, %bias;  %4 = maximum %3, %zero
//   → the blocks of %2 are never written as such: %4 is, from each of them
// What is between may be read several times, as x is in x * logistic(x).

#include "compiler/kernel/epilogue.h"

#include "compiler/kernel/block_convolution.h"
#include "compiler/kernel/element_form.h"
#include "compiler/kernel/inline_plan.h"
#include "compiler/kernel/product_call.h"
#include "compiler/kernel/reduce_columns.h"
#include "dialect/dispatch/machine.h"
#include "dialect/stablehlo/ops.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace alula::kernel;

namespace {
/// Its elements are those of `product` at the same indices, changed.
bool mayFollow(Operation *op, Operation *product) {
  auto shapeOf = [](Value tensor) {
    return cast<RankedTensorType>(tensor.getType()).getShape();
  };
  Value from = product->getResult(0);
  // A region may read what is computed before the op and not before the blocks.
  return keepsIndices(op) && !op->getNumRegions() && op->getNumResults() == 1 &&
         shapeOf(op->getResult(0)) == shapeOf(from) && !shapeOf(from).empty();
}

/// `product`, what follows it, and as the last the only one that is read by
/// others.
SmallVector<Operation *> findEpilogue(Operation *product,
                                      const DenseSet<Operation *> &inlined,
                                      const DenseSet<Operation *> &taken) {
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
    if (!mayFollow(op, product) || taken.contains(op) ||
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
} // namespace

bool alula::kernel::worksInBlocks(Operation *op) {
  if (auto convolution = dyn_cast<stablehlo::ConvolutionOp>(op))
    return worksInBlocks(convolution);
  if (auto reduce = dyn_cast<stablehlo::ReduceOp>(op))
    return reduce.getNumResults() == 1 && reducesColumns(reduce);
  auto dot = dyn_cast<stablehlo::DotGeneralOp>(op);
  if (!dot || !getProductTypes(op))
    return false;
  auto lhs = cast<RankedTensorType>(dot.getLhs().getType());
  // Below this many steps loops of scalars are as fast.
  int64_t minSteps = dispatch::getMachine(op).callSteps;
  auto result = cast<RankedTensorType>(dot.getType());
  int64_t steps = result.hasStaticShape() ? result.getNumElements() : minSteps;
  for (int64_t dim : dot.getDotDimensionNumbers().getLhsContractingDimensions()) {
    int64_t size = lhs.getDimSize(static_cast<unsigned>(dim));
    size = ShapedType::isDynamic(size) ? minSteps : std::min(size, minSteps);
    steps = std::min(steps, minSteps) * size;
  }
  return steps >= minSteps;
}

Epilogues alula::kernel::planEpilogues(Block &block,
                                       DenseSet<Operation *> &inlined) {
  Epilogues epilogues;
  for (Operation &op : block.without_terminator()) {
    if (!worksInBlocks(&op))
      continue;
    SmallVector<Operation *> ops = findEpilogue(&op, inlined, epilogues.members);
    Operation *last = ops.back();
    if (last == &op)
      continue;
    inlined.erase(last);
    epilogues.lastOf[&op] = last;
    epilogues.producerOf[last] = &op;
    epilogues.members.insert(ops.begin(), ops.end());
  }
  return epilogues;
}
