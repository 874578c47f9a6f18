#include "dialect/chlo/functions.h"

#include "dialect/chlo/ops.h"

using namespace mlir;

bool chlo::isNamedFunction(Operation *op) { return isa<ErfOp, ErfcOp>(op); }

bool chlo::isTensorOp(Operation *op) {
  return isa_and_nonnull<stablehlo::StablehloDialect>(op->getDialect()) ||
         isNamedFunction(op);
}
