// Rules of the ops between real and quantized numbers.

#include "dialect/stablehlo/ops.h"
#include "dialect/stablehlo/rule_site.h"

using namespace mlir;
using namespace mlir::stablehlo;

LogicalResult UniformQuantizeOp::verify() {
  Type operand = elementType(getOperand().getType());
  Type result = elementType(getType());
  if (expressedType(operand) == expressedType(result))
    return success();
  return RuleSite(*this).fail("result must express the operand's type: operand "
                              "has ",
                              operand, ", result has ", result);
}

LogicalResult UniformDequantizeOp::verify() {
  Type operand = elementType(getOperand().getType());
  Type result = elementType(getType());
  if (expressedType(operand) == result)
    return success();
  return RuleSite(*this).fail("result must have the type that the operand "
                              "expresses: operand has ",
                              operand, ", result has ", result);
}
