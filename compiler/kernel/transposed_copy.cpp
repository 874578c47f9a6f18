// Copies with dimensions in another order, where neighbours in memory do not
// stay neighbours.
//   for each block:  alula_transpose_32(to, to_row, from, from_row, 64, 64)

#include "compiler/kernel/transposed_copy.h"

#include "compiler/kernel/matrix_operand.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace alula::kernel;

namespace {
/// Below this, loops of scalars are as fast.
constexpr int64_t minElements = 1 << 12, minSize = 8;
/// A row of a block; blocks of source and target stay in the cache together.
constexpr int64_t blockBytes = 256, minSide = 32, maxSide = 128;

bool isSmaller(Value size, int64_t limit) {
  return getConstantIntValue(size).value_or(limit) < limit;
}
} // namespace

bool alula::kernel::fillTransposed(Value buffer, Value tensor,
                                   Lowering &lowering) {
  auto transpose = tensor.getDefiningOp<stablehlo::TransposeOp>();
  if (!transpose || lowering.hasBuffer(tensor) ||
      !lowering.hasBuffer(transpose.getOperand()))
    return false;
  Value source = lowering.getBuffer(transpose.getOperand());
  auto sourceType = cast<MemRefType>(source.getType());
  auto targetType = cast<MemRefType>(buffer.getType());
  Type element = sourceType.getElementType();
  unsigned bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
  ArrayRef<int64_t> permutation = transpose.getPermutation();
  if (permutation.size() < 2 || (bits != 8 && bits != 16 && bits != 32 && bits != 64) ||
      targetType.getElementType() != element ||
      !sourceType.getLayout().isIdentity() ||
      !targetType.getLayout().isIdentity())
    return false;
  size_t last = permutation.size() - 1;
  auto crossed = static_cast<size_t>(
      llvm::find(permutation, static_cast<int64_t>(last)) - permutation.begin());
  SmallVector<Value> sizes = lowering.getShape(tensor);
  if (crossed == last || isSmaller(lowering.product(sizes), minElements) ||
      isSmaller(sizes[crossed], minSize) || isSmaller(sizes[last], minSize))
    return false;

  SmallVector<Value> sourceSizes = lowering.getShape(transpose.getOperand());
  SmallVector<Value> strides = lowering.getStrides(sizes);
  SmallVector<Value> sourceStrides = lowering.getStrides(sourceSizes);
  Value side = lowering.index(
      std::clamp<int64_t>(blockBytes * 8 / bits, minSide, maxSide));
  SmallVector<Value> grid(sizes);
  for (size_t dim : {crossed, last})
    grid[dim] = lowering.ceilDiv(sizes[dim], side);
  ImplicitLocOpBuilder &b = lowering.b;
  auto toInteger = [&](Value index) -> Value {
    return b.create<arith::IndexCastOp>(b.getI64Type(), index);
  };
  int64_t steps = *getConstantIntValue(side) * *getConstantIntValue(side);
  lowering.forEachBlock(lowering.product(grid), steps, [&](Value number) {
    SmallVector<Value> first = lowering.delinearize(number, grid), from(first);
    for (size_t dim : {crossed, last})
      first[dim] = lowering.mul(first[dim], side);
    for (auto [position, dim] : llvm::enumerate(permutation))
      from[static_cast<size_t>(dim)] = first[position];
    auto count = [&](size_t dim) {
      return toInteger(
          lowering.min(side, lowering.sub(sizes[dim], first[dim])));
    };
    lowering.callLibrary(
        "alula_transpose_" + Twine(bits),
        {getElementPointer(lowering, buffer, lowering.linearize(first, sizes)),
         toInteger(strides[crossed]),
         getElementPointer(lowering, source,
                           lowering.linearize(from, sourceSizes)),
         toInteger(sourceStrides[static_cast<size_t>(permutation[last])]),
         count(crossed), count(last)});
  });
  return true;
}
