// What sums and products are computed in.

#include "compiler/kernel/element/sum_types.h"

#include "compiler/kernel/element/element_form.h"
#include "dialect/stablehlo/element_rules.h"
#include "dialect/stablehlo/ops.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace alula::kernel;

Type alula::kernel::getSumType(Type element) {
  Type value = getValueType(element);
  // Sums of narrow numbers are kept in single precision.
  if (isa_and_nonnull<FloatType>(value) && value.getIntOrFloatBitWidth() < 32)
    return Float32Type::get(element.getContext());
  return value;
}

Operation *alula::kernel::findFloatFold(Operation *op, Block &body) {
  bool isFloat =
      getElementKind(getElementType(op->getResult(0))) == ElementKind::Float;
  Operation *only = isFloat ? stablehlo::findOnlyOp(body) : nullptr;
  bool isKnown =
      isa_and_nonnull<stablehlo::AddOp, stablehlo::MaxOp, stablehlo::MinOp>(
          only) ||
      (isa_and_nonnull<stablehlo::MulOp>(only) && isa<stablehlo::ReduceOp>(op));
  return isKnown ? only : nullptr;
}

Type alula::kernel::getFloatSumType(Operation *op, Block &body) {
  if (!isa_and_nonnull<stablehlo::AddOp>(findFloatFold(op, body)))
    return {};
  return getSumType(getElementType(op->getResult(0)));
}

namespace {
/// How many products each sum is made of; -1 if that is not known.
int64_t countProducts(Operation *op) {
  SmallVector<int64_t> dims;
  auto type = cast<RankedTensorType>(op->getOperand(0).getType());
  if (auto dot = dyn_cast<stablehlo::DotGeneralOp>(op)) {
    llvm::append_range(
        dims, dot.getDotDimensionNumbers().getLhsContractingDimensions());
  } else {
    auto numbers = cast<stablehlo::ConvolutionOp>(op).getDimensionNumbers();
    type = cast<RankedTensorType>(op->getOperand(1).getType());
    llvm::append_range(dims, numbers.getKernelSpatialDimensions());
    dims.push_back(numbers.getKernelInputFeatureDimension());
  }
  int64_t count = 1;
  for (int64_t dim : dims) {
    int64_t size = type.getDimSize(static_cast<unsigned>(dim));
    if (ShapedType::isDynamic(size) || llvm::MulOverflow(count, size, count))
      return -1;
  }
  return count;
}

/// Bits of the largest magnitude; 0 for what is no number.
unsigned getMagnitudeBits(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || integer.getWidth() == 1)
    return 0;
  return integer.isUnsigned() ? integer.getWidth() : integer.getWidth() - 1;
}

/// Bytes with or without a sign, not fewer bits that are bytes in memory.
bool isByte(Type type) {
  return isa<IntegerType>(type) && type.getIntOrFloatBitWidth() == 8;
}

/// Bits of the largest sum; 0 for what is no number, or for any number of
/// terms.
unsigned countSumBits(Operation *op) {
  unsigned left = getMagnitudeBits(getElementType(op->getOperand(0)));
  unsigned right = getMagnitudeBits(getElementType(op->getOperand(1)));
  int64_t count = countProducts(op);
  return left && right && count >= 1
             ? left + right + llvm::Log2_64_Ceil(static_cast<uint64_t>(count))
             : 0;
}
} // namespace

ProductTypes alula::kernel::getProductTypes(Operation *op) {
  MLIRContext *context = op->getContext();
  Type left = getElementType(op->getOperand(0));
  Type right = getElementType(op->getOperand(1));
  Type result = getElementType(op->getResult(0));
  Type sum = getSumType(result);
  if (!sum)
    return {};
  if (left.isBF16() && right.isBF16() && sum.isF32())
    return {left, right, sum};
  if (sum.isF32() || sum.isF64())
    return {sum, sum, sum};
  if (!getMagnitudeBits(left) || !getMagnitudeBits(right) ||
      !getMagnitudeBits(result))
    return {};
  unsigned width =
      getMemoryType(result).getIntOrFloatBitWidth() <= 32 ? 32 : 64;
  Type whole = IntegerType::get(context, width);
  if (isByte(left) && isByte(right) && width == 32)
    return {left, right, whole};
  // Most machines multiply floats faster than integers of as many bits.
  unsigned bits = countSumBits(op);
  if (bits && bits <= (width == 32 ? 24 : 53)) {
    Type real = width == 32 || bits <= 24 ? Type(Float32Type::get(context))
                                          : Type(Float64Type::get(context));
    return {real, real, real};
  }
  // Sums that wrap need no more bits of their terms than they have.
  auto getFactor = [&](Type element) {
    return element.isInteger(width) ? element : whole;
  };
  return {getFactor(left), getFactor(right), whole};
}
