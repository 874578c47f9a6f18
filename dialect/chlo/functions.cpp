#include "dialect/chlo/functions.h"

#include "dialect/chlo/ops.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

bool chlo::isNamedFunction(Operation *op) { return isa<ErfOp, ErfcOp>(op); }

bool chlo::isSpecialFunction(Operation *op) { return countFormulaOps(op) > 1; }

int64_t chlo::countFormulaOps(Operation *op) {
  return llvm::TypeSwitch<Operation *, int64_t>(op)
      .Case([](ErfInvOp) { return 60; })
      .Case([](LgammaOp) { return 100; })
      .Case([](DigammaOp) { return 110; })
      .Case([](BesselI1eOp) { return 120; })
      .Case([](ZetaOp) { return 150; })
      .Case([](PolygammaOp) { return 430; })
      .Default([](Operation *) { return 1; });
}

bool chlo::isTensorOp(Operation *op) {
  return isa_and_nonnull<stablehlo::StablehloDialect>(op->getDialect()) ||
         isNamedFunction(op) || isSpecialFunction(op);
}
