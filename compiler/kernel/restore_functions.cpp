#include "compiler/kernel/restore_functions.h"

#include "compiler/kernel/recognize_erfc.h"

#include "dialect/chlo/ops.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace {
/// Operations that have nothing but `op` as their reason go with it.
void eraseWithFormula(Operation *op) {
  SmallVector<Operation *> dead{op};
  while (!dead.empty()) {
    Operation *next = dead.pop_back_val();
    llvm::SmallSetVector<Operation *, 4> producers;
    for (Value operand : next->getOperands())
      if (Operation *producer = operand.getDefiningOp())
        producers.insert(producer);
    next->erase();
    for (Operation *producer : producers)
      if (isOpTriviallyDead(producer))
        dead.push_back(producer);
  }
}

/// What the formula is of, if it is still as it was made.
Value findArgument(stablehlo::SelectOp select) {
  Value x = select.getOnTrue();
  auto isNan = select.getPred().getDefiningOp<stablehlo::CompareOp>();
  bool isAsMade =
      isNan && isNan.getLhs() == x && isNan.getRhs() == x &&
      isNan.getComparisonDirection() == stablehlo::ComparisonDirection::NE &&
      x.getType() == select.getType() &&
      getElementTypeOrSelf(x.getType()).isF32();
  return isAsMade ? x : Value();
}
} // namespace

void alula::kernel::restoreFunctions(Operation *root) {
  SmallVector<stablehlo::SelectOp> recognized;
  root->walk([&](stablehlo::SelectOp select) {
    if (findErfcArgument(select))
      recognized.push_back(select);
  });
  for (stablehlo::SelectOp select : recognized) {
    // One's argument may be another.
    Value x = findErfcArgument(select);
    OpBuilder b(select);
    Value function = b.create<chlo::ErfcOp>(select.getLoc(), x.getType(), x);
    select.getResult().replaceAllUsesWith(function);
    eraseWithFormula(select);
  }
  SmallVector<stablehlo::SelectOp> formulas;
  root->walk([&](stablehlo::SelectOp select) {
    if (select->hasAttr("alula.function"))
      formulas.push_back(select);
  });
  for (stablehlo::SelectOp select : formulas) {
    auto name = dyn_cast<StringAttr>(select->getAttr("alula.function"));
    Value x = findArgument(select);
    if (!name || !x)
      continue;
    OpBuilder b(select);
    Value function;
    if (name == chlo::ErfOp::getOperationName())
      function = b.create<chlo::ErfOp>(select.getLoc(), x.getType(), x);
    else if (name == chlo::ErfcOp::getOperationName())
      function = b.create<chlo::ErfcOp>(select.getLoc(), x.getType(), x);
    else
      continue;
    select.getResult().replaceAllUsesWith(function);
    eraseWithFormula(select);
  }
}
