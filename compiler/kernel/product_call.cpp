#include "compiler/kernel/product_call.h"

#include "compiler/kernel/library/product.h"
#include "compiler/kernel/library/product_narrow.h"
#include "compiler/kernel/scalar.h"
#include "dialect/dispatch/ops.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace alula::kernel;

namespace {
/// How many products each sum is made of; -1 if that is not known.
int64_t countProducts(Operation *op) {
  SmallVector<int64_t> dims;
  auto type = cast<RankedTensorType>(op->getOperand(0).getType());
  if (auto dot = dyn_cast<stablehlo::DotGeneralOp>(op)) {
    llvm::append_range(
        dims, dot.getDotDimensionNumbers().getLhsContractingDimensions());
  } else {
    auto numbers =
        cast<stablehlo::ConvolutionOp>(op).getDimensionNumbers();
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
  if (sum.isF32() || sum.isF64())
    return sum;
  unsigned left = getMagnitudeBits(getElementType(op->getOperand(0)));
  unsigned right = getMagnitudeBits(getElementType(op->getOperand(1)));
  int64_t count = countProducts(op);
  if (!left || !right || count < 1 || !getMagnitudeBits(element))
    return {};
  unsigned bits = left + right + llvm::Log2_64_Ceil(static_cast<uint64_t>(count));
  if (bits <= 24)
    return Float32Type::get(op->getContext());
  return bits <= 53 ? Type(Float64Type::get(op->getContext())) : Type();
}
} // namespace

ProductTypes alula::kernel::getProductTypes(Operation *op) {
  Type left = getElementType(op->getOperand(0));
  Type right = getElementType(op->getOperand(1));
  Type result = getElementType(op->getResult(0));
  if (left.isBF16() && right.isBF16() && getSumType(result).isF32())
    return {left, right, Float32Type::get(op->getContext())};
  unsigned bits = getMagnitudeBits(result);
  if (isByte(left) && isByte(right) && bits && bits <= 32)
    return {left, right, IntegerType::get(op->getContext(), 32)};
  Type wide = getWideType(op);
  return {wide, wide, wide};
}

void alula::kernel::callProduct(Lowering &lowering, const ProductTypes &types,
                                const ProductCall &call) {
  ImplicitLocOpBuilder &b = lowering.b;
  auto toInteger = [&](Value size, int64_t otherwise) -> Value {
    return b.create<arith::IndexCastOp>(
        b.getI64Type(), size ? size : lowering.index(otherwise));
  };
  Value offsets = call.offsets
                      ? lowering.getPointer(call.offsets)
                      : b.create<LLVM::ZeroOp>(
                             LLVM::LLVMPointerType::get(b.getContext()))
                            .getResult();
  Value add = b.create<arith::ConstantOp>(b.getI32IntegerAttr(0));
  bool isNarrow = types.left != types.sum;
  int64_t scratchBytes =
      isNarrow ? alula_product_narrow_scratch_bytes()
               : alula_product_scratch_bytes(
                     call.columnLimit * types.sum.getIntOrFloatBitWidth() / 8);
  SmallVector<Value> arguments{
      call.output, toInteger(call.outputGroup, 0), toInteger(call.outputRow, 0),
      call.left.pointer, toInteger(call.leftGroup, 0),
      toInteger(call.left.rowStride, 0), toInteger(call.left.columnStride, 0),
      offsets, toInteger(call.pieces, 1), toInteger(call.depth, 0),
      call.right.pointer, toInteger(call.right.rowStride, 0),
      toInteger(call.right.columnStride, 0)};
  if (!isNarrow)
    arguments.push_back(toInteger(call.right.panelStride, 0));
  arguments.append({toInteger(call.groups, 1), toInteger(call.rows, 0),
                    toInteger(call.columns, 0), add});
  if (isByte(types.right))
    arguments.push_back(b.create<arith::ConstantOp>(
        b.getI32IntegerAttr(types.right.isUnsignedInteger())));
  arguments.push_back(lowering.getPointer(lowering.createTemporary(
      {lowering.index(scratchBytes)}, b.getI8Type())));
  lowering.callLibrary("alula_product_" + getLibraryName(types.left), arguments);
}
