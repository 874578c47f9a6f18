// Generators of ops that work on each element by itself.

#include "compiler/kernel/families.h"
#include "compiler/kernel/scalar.h"

#include "dialect/stablehlo/ops.h"

using namespace mlir;
using namespace alula::kernel;

Value alula::kernel::generateElementwise(OpResult result, ValueRange indices,
                                         Lowering &lowering) {
  Operation *op = result.getOwner();
  SmallVector<Value> arguments;
  // select and clamp take scalars beside tensors.
  for (Value operand : op->getOperands()) {
    bool isScalar = cast<RankedTensorType>(operand.getType()).getRank() == 0;
    arguments.push_back(
        lowering.getElement(operand, isScalar ? ValueRange() : indices));
  }
  return lowerScalar(lowering, op, arguments);
}

Value alula::kernel::generateMap(OpResult result, ValueRange indices,
                                 Lowering &lowering) {
  auto map = cast<stablehlo::MapOp>(result.getOwner());
  SmallVector<Value> arguments;
  for (Value input : map.getInputs())
    arguments.push_back(lowering.getElement(input, indices));
  return lowering.call(map.getComputation().front(), arguments).front();
}

Value alula::kernel::lowerScalar(Lowering &lowering, Operation *op,
                                 ValueRange arguments) {
  Type result = getElementType(op->getResult(0));
  if (auto select = dyn_cast<stablehlo::SelectOp>(op))
    return lowering.select(arguments[0], arguments[1], arguments[2]);
  Type operand = getElementType(op->getOperand(0));
  if (isa<stablehlo::ConvertOp>(op))
    return convertScalar(lowering, op, arguments[0], operand, result);
  // What makes or takes apart complex numbers is theirs too.
  if (isa<ComplexType>(operand) || isa<ComplexType>(result) ||
      isa<stablehlo::RealOp, stablehlo::ImagOp>(op))
    return lowerComplexScalar(lowering, op, arguments);
  if (isa<IntegerType>(operand))
    return lowerIntegerScalar(lowering, op, arguments);
  return lowerFloatScalar(lowering, op, arguments);
}
