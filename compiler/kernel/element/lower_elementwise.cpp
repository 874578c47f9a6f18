// Generators of ops that work on each element by itself.

#include "compiler/kernel/element/generators.h"
#include "compiler/kernel/element/reader.h"
#include "compiler/kernel/element/scalar.h"

#include "dialect/stablehlo/ops.h"

using namespace mlir;
using namespace alula::kernel;

Value alula::kernel::generateElementwise(OpResult result, ValueRange indices,
                                         Reader &reader) {
  Operation *op = result.getOwner();
  SmallVector<Value> arguments;
  // select and clamp take scalars beside tensors.
  for (Value operand : op->getOperands()) {
    bool isScalar = cast<RankedTensorType>(operand.getType()).getRank() == 0;
    arguments.push_back(
        reader.getElement(operand, isScalar ? ValueRange() : indices));
  }
  return lowerScalar(reader, op, arguments);
}

Value alula::kernel::generateMap(OpResult result, ValueRange indices,
                                 Reader &reader) {
  auto map = cast<stablehlo::MapOp>(result.getOwner());
  SmallVector<Value> arguments;
  for (Value input : map.getInputs())
    arguments.push_back(reader.getElement(input, indices));
  return reader.call(map.getComputation().front(), arguments).front();
}

Value alula::kernel::lowerScalar(CodeBuilder &builder, Operation *op,
                                 ValueRange arguments) {
  Type result = getElementType(op->getResult(0));
  if (auto select = dyn_cast<stablehlo::SelectOp>(op))
    return builder.select(arguments[0], arguments[1], arguments[2]);
  Type operand = getElementType(op->getOperand(0));
  if (isa<stablehlo::ConvertOp>(op))
    return convertScalar(builder, op, arguments[0], operand, result);
  // What makes or takes apart complex numbers is theirs too.
  if (isa<ComplexType>(operand) || isa<ComplexType>(result) ||
      isa<stablehlo::RealOp, stablehlo::ImagOp>(op))
    return lowerComplexScalar(builder, op, arguments);
  if (isa<IntegerType>(operand))
    return lowerIntegerScalar(builder, op, arguments);
  return lowerFloatScalar(builder, op, arguments);
}
