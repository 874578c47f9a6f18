// Collectives that give zeros to a process that receives nothing: on quantized
// types what stands for zero, the zero point.
//
//   collective(q) → collective(q - zero) + zero        with wrapping integers
//
// The computation of a collective_reduce gets the stored values back.

#include "compiler/input/lower_quantized.h"

#include "dialect/stablehlo/ops.h"

using namespace mlir;

namespace {
template <typename OpT>
Value combine(OpBuilder &builder, Location location, Value value, Value zero) {
  return builder.create<OpT>(location, value.getType(), value, zero);
}
} // namespace

bool alula::input::mayGiveZeros(Operation *op) {
  return isa<stablehlo::CollectiveBroadcastOp, stablehlo::CollectivePermuteOp,
             stablehlo::CollectiveReduceOp>(op);
}

void alula::input::shiftZeros(Operation *op, TypeRange operandTypes) {
  OpBuilder builder(op);
  Location location = op->getLoc();
  // Results go with the first operands; a dynamic root may follow.
  for (OpResult result : op->getResults()) {
    unsigned index = result.getResultNumber();
    Type element = getElementTypeOrSelf(operandTypes[index]);
    if (!getStorageType(element))
      continue;
    builder.setInsertionPoint(op);
    Value operand = op->getOperand(index);
    Value zero = buildStoredZero(builder, location, operand, element);
    if (!zero)
      continue;
    op->setOperand(index, combine<stablehlo::SubtractOp>(builder, location,
                                                         operand, zero));
    builder.setInsertionPointAfter(op);
    Value back =
        combine<stablehlo::AddOp>(builder, location, result, zero);
    result.replaceAllUsesExcept(back, back.getDefiningOp());
  }
  Type element = getElementTypeOrSelf(operandTypes.front());
  if (op->getNumRegions() == 0 || !getStorageType(element))
    return;
  Block &block = op->getRegion(0).front();
  builder.setInsertionPointToStart(&block);
  Value zero = buildStoredZero(builder, location, block.getArgument(0), element);
  if (!zero)
    return;
  for (BlockArgument argument : block.getArguments()) {
    Value back = combine<stablehlo::AddOp>(builder, location, argument, zero);
    argument.replaceAllUsesExcept(back, back.getDefiningOp());
  }
  Operation *end = block.getTerminator();
  builder.setInsertionPoint(end);
  for (OpOperand &operand : end->getOpOperands())
    operand.set(combine<stablehlo::SubtractOp>(builder, location,
                                               operand.get(), zero));
}
