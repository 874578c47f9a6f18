// Gives functions that a program spells out their name again.
//
//   composite "chlo.f" %x {decomposition = @g}  →  chlo.f %x
//   JAX's formula of erfc(%x)                   →  chlo.erfc %x
//
// Exported programs have both. The formulas are slower and less exact than what
// the kernel library has. Only functions that keep their name are raised: the
// others would be said in stablehlo again, in our formulas instead of theirs.

#include "compiler/input/erfc_formula.h"

#include "dialect/chlo/functions.h"
#include "dialect/chlo/ops.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/SetVector.h"

namespace alula::input {
#define GEN_PASS_DECL_INPUTRAISEFUNCTIONS
#define GEN_PASS_DEF_INPUTRAISEFUNCTIONS
#include "compiler/input/passes.h.inc"
} // namespace alula::input

using namespace mlir;
using namespace alula::input;

#define DEBUG_TYPE "input-raise-functions"

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

/// The function that a composite has the name of.
void raiseComposite(stablehlo::CompositeOp composite) {
  if (composite->getNumOperands() != 1 || composite->getNumResults() != 1)
    return;
  Type type = composite.getResult(0).getType();
  auto shaped = dyn_cast<ShapedType>(type);
  if (composite.getInputs()[0].getType() != type || !shaped ||
      !isa<FloatType>(shaped.getElementType()) ||
      !composite.getCompositeAttributes().empty())
    return;
  OpBuilder builder(composite);
  Value x = composite.getInputs()[0], function;
  if (composite.getName() == chlo::ErfOp::getOperationName())
    function = builder.create<chlo::ErfOp>(composite.getLoc(), type, x);
  else if (composite.getName() == chlo::ErfcOp::getOperationName())
    function = builder.create<chlo::ErfcOp>(composite.getLoc(), type, x);
  else
    return;
  composite.getResult(0).replaceAllUsesWith(function);
  composite.erase();
}

struct RaiseFunctions
    : public alula::input::impl::InputRaiseFunctionsBase<RaiseFunctions> {
  using InputRaiseFunctionsBase::InputRaiseFunctionsBase;

  void runOnOperation() override {
    SmallVector<stablehlo::SelectOp> formulas;
    getOperation().walk([&](Operation *op) {
      if (auto composite = dyn_cast<stablehlo::CompositeOp>(op);
          composite && !llvm::is_contained(keptNames, composite.getName()))
        raiseComposite(composite);
      else if (auto select = dyn_cast<stablehlo::SelectOp>(op);
               select && findErfcArgument(select))
        formulas.push_back(select);
    });
    for (stablehlo::SelectOp select : formulas) {
      // One's argument may be another.
      Value x = findErfcArgument(select);
      OpBuilder builder(select);
      Value function =
          builder.create<chlo::ErfcOp>(select.getLoc(), x.getType(), x);
      select.getResult().replaceAllUsesWith(function);
      eraseWithFormula(select);
    }
  }
};
} // namespace
