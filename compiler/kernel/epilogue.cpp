// Which elementwise ops follow a product block by block.
//   %2 = dot_general %a, %b;  %3 = add %2, %bias;  %4 = maximum %3, %zero
//   → the blocks of %2 are never written as such: %4 is, from each of them

#include "compiler/kernel/epilogue.h"

#include "compiler/kernel/block_convolution.h"
#include "compiler/kernel/element_form.h"
#include "compiler/kernel/inline_plan.h"
#include "compiler/kernel/product_call.h"
#include "dialect/stablehlo/ops.h"

using namespace mlir;
using namespace alula::kernel;

namespace {
/// Below this many steps loops of scalars are as fast.
constexpr int64_t minSteps = 4096;

int64_t countElements(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return type.hasStaticShape() ? type.getNumElements() : minSteps;
}

/// The only reader of `value`, if its elements are those at the same indices.
Operation *getFollower(Value value) {
  if (!value.hasOneUse())
    return nullptr;
  Operation *user = *value.user_begin();
  auto shapeOf = [](Value tensor) {
    return cast<RankedTensorType>(tensor.getType()).getShape();
  };
  // A region may read what is computed before the op and not before the blocks.
  if (!keepsIndices(user) || user->getNumRegions() ||
      user->getBlock() != value.getParentBlock() || user->getNumResults() != 1 ||
      shapeOf(user->getResult(0)) != shapeOf(value) || shapeOf(value).empty())
    return nullptr;
  return user;
}
} // namespace

bool alula::kernel::worksInBlocks(Operation *op) {
  if (auto convolution = dyn_cast<stablehlo::ConvolutionOp>(op))
    return worksInBlocks(convolution);
  auto dot = dyn_cast<stablehlo::DotGeneralOp>(op);
  if (!dot || !getCallSumType(op))
    return false;
  auto lhs = cast<RankedTensorType>(dot.getLhs().getType());
  int64_t steps = countElements(dot.getResult());
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
    Operation *last = &op;
    while (Operation *follower = getFollower(last->getResult(0))) {
      // What is between has to be inlined, and belongs to one product.
      if ((last != &op && !inlined.contains(last)) ||
          epilogues.producerOf.contains(follower))
        break;
      last = follower;
    }
    if (last == &op)
      continue;
    inlined.erase(last);
    epilogues.lastOf[&op] = last;
    epilogues.producerOf[last] = &op;
  }
  return epilogues;
}
