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

/// Of elements that have to be widened; null for what can't be exact.
Type getWideType(Operation *op) {
  Type element = getElementType(op->getResult(0));
  Type sum = getSumType(element);
  if (!sum)
    return {};
  if (sum.isF32() || sum.isF64())
    return sum;
  unsigned left = getMagnitudeBits(getElementType(op->getOperand(0)));
  unsigned right = getMagnitudeBits(getElementType(op->getOperand(1)));
  int64_t count = countProducts(op);
  if (!left || !right || count < 1 || !getMagnitudeBits(element))
    return {};
  unsigned bits =
      left + right + llvm::Log2_64_Ceil(static_cast<uint64_t>(count));
  if (bits <= 24)
    return Float32Type::get(op->getContext());
  return bits <= 53 ? Type(Float64Type::get(op->getContext())) : Type();
}
} // namespace

ProductTypes alula::kernel::getProductTypes(Operation *op) {
  Type left = getElementType(op->getOperand(0));
  Type right = getElementType(op->getOperand(1));
  Type result = getElementType(op->getResult(0));
  Type sum = getSumType(result);
  if (left.isBF16() && right.isBF16() && sum && sum.isF32())
    return {left, right, Float32Type::get(op->getContext())};
  unsigned bits = getMagnitudeBits(result);
  if (isByte(left) && isByte(right) && bits && bits <= 32)
    return {left, right, IntegerType::get(op->getContext(), 32)};
  Type wide = getWideType(op);
  return {wide, wide, wide};
}
