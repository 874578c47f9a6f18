#include "compiler/dispatch/work.h"

#include "dialect/chlo/functions.h"
#include "dialect/stablehlo/access.h"
#include "dialect/stablehlo/ops.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using stablehlo::Access;

namespace {
constexpr int64_t large = int64_t(1) << 40, functionSteps = 8;

int64_t multiply(int64_t a, int64_t b) {
  int64_t product = 0;
  return llvm::MulOverflow(a, b, product) ? large : std::min(product, large);
}

int64_t countElements(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return 0;
  int64_t count = 1;
  for (int64_t size : tensor.getShape())
    count = ShapedType::isDynamic(size) ? large : multiply(count, size);
  return count;
}

int64_t countAll(TypeRange types) {
  int64_t count = 0;
  for (Type type : types)
    count = std::max(count, countElements(type));
  return count;
}

/// What is computed: elements of the results, and of operands that have others.
int64_t countComputed(Operation *op) {
  // In place: what is read for it says where and what.
  bool isUpdate = stablehlo::readsAny(op, Access::Updated);
  int64_t count = isUpdate ? 0 : countAll(op->getResultTypes());
  for (OpOperand &use : op->getOpOperands())
    switch (stablehlo::getAccess(use)) {
    case Access::Bits:
    case Access::Part:
    case Access::Scattered:
    case Access::Whole:
      count = std::max(count, countElements(use.get().getType()));
      break;
    default:
      break;
    }
  return std::max<int64_t>(count, 1);
}
} // namespace

int64_t alula::dispatch::estimateWork(Operation *op) {
  if (op->hasTrait<mlir::OpTrait::ConstantLike>() ||
      op->hasTrait<mlir::OpTrait::IsTerminator>())
    return 0;
  if (stablehlo::isControlFlow(op)) {
    int64_t work = 1;
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Operation &inner : block)
          work = std::min(large, work + estimateWork(&inner));
    return work;
  }
  int64_t steps = stablehlo::countTerms(op).value_or(large);
  steps = multiply(steps, getStepsOfElement(op));
  steps = multiply(steps, chlo::countFormulaOps(op));
  return multiply(countComputed(op), std::max<int64_t>(steps, 1));
}

int64_t alula::dispatch::getStepsOfElement(Operation *op) {
  return stablehlo::getElementCost(op) == stablehlo::Cost::Function
             ? functionSteps
             : 1;
}

bool alula::dispatch::isSmallWork(int64_t work, const MachineFacts &machine) {
  return work <= machine.launchSteps;
}
