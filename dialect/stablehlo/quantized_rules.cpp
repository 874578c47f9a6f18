// Rules about the quantized element types of matrix products and convolutions.

#include "dialect/stablehlo/quantized_rules.h"

#include "dialect/newer/types.h"
#include "dialect/stablehlo/type_rules.h"

#include "mlir/Dialect/Quant/QuantTypes.h"

using namespace mlir;
using namespace mlir::stablehlo;
using alula::newer::SubChannelQuantizedType;

namespace {
/// The integer type that values are stored as, with its sign.
Type storageType(Type element) {
  IntegerType storage;
  bool isSigned = true;
  if (auto quantized = dyn_cast<quant::QuantizedType>(element)) {
    storage = dyn_cast<IntegerType>(quantized.getStorageType());
    isSigned = quantized.isSigned();
  } else if (auto blocks = dyn_cast<SubChannelQuantizedType>(element)) {
    storage = dyn_cast<IntegerType>(blocks.getQuantization().storageType);
    isSigned = blocks.getQuantization().isSigned;
  }
  if (!storage)
    return {};
  return IntegerType::get(element.getContext(), storage.getWidth(),
                          isSigned ? IntegerType::Signless
                                   : IntegerType::Unsigned);
}
} // namespace

std::optional<int64_t> stablehlo::quantizedDimension(Type elementType) {
  auto perAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(elementType);
  if (!perAxis)
    return std::nullopt;
  return perAxis.getQuantizedDimension();
}

bool stablehlo::hasZeroZeroPoints(Type elementType) {
  if (auto perTensor = dyn_cast<quant::UniformQuantizedType>(elementType))
    return perTensor.getZeroPoint() == 0;
  if (auto perAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(elementType))
    return llvm::all_of(perAxis.getZeroPoints(),
                        [](int64_t zero) { return zero == 0; });
  if (auto blocks = dyn_cast<SubChannelQuantizedType>(elementType))
    return llvm::all_of(
        blocks.getQuantization().zeroPoints.getValues<APInt>(),
        [](const APInt &zero) { return zero.isZero(); });
  return true;
}

LogicalResult stablehlo::verifyQuantizedProduct(const RuleSite &site, Type lhs,
                                                Type rhs, Type result) {
  bool lhsQuantized = isQuantizedElement(lhs);
  bool resultQuantized = isQuantizedElement(result);
  if (!lhsQuantized && !isQuantizedElement(rhs) && !resultQuantized)
    return success();
  if (!isQuantizedElement(rhs) || lhsQuantized != resultQuantized)
    return site.fail("rhs must be quantized, and lhs and result both or "
                     "neither: lhs is ",
                     lhs, ", rhs is ", rhs, ", result is ", result);
  if (!lhsQuantized) {
    if (lhs != expressedType(rhs) || lhs != result)
      return site.fail("element types of lhs and result must be the expressed "
                       "type of rhs: lhs is ",
                       lhs, ", rhs is ", rhs, ", result is ", result);
    return success();
  }
  if (storageType(lhs) != storageType(rhs))
    return site.fail("storage types of lhs and rhs must be equal: lhs is ", lhs,
                     ", rhs is ", rhs);
  if (expressedType(lhs) != expressedType(rhs) ||
      expressedType(lhs) != expressedType(result))
    return site.fail("expressed types must be equal: lhs is ", lhs, ", rhs is ",
                     rhs, ", result is ", result);
  if (isPerTensorQuantizedElement(rhs) && !isPerTensorQuantizedElement(result))
    return site.fail("result must be quantized per tensor if rhs is: rhs is ",
                     rhs, ", result is ", result);
  return success();
}
