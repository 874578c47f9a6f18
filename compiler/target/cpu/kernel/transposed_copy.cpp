// Copies with dimensions in another order, where neighbours in memory do not
// stay neighbours.
//   for each block:  alula_transpose_32(to, to_row, from, from_row, 64, 64)
// Of what no cache holds, blocks are strips: few rows of the target, many columns.

#include "compiler/target/cpu/kernel/transposed_copy.h"

#include "compiler/kernel/library/transpose.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace alula::cpu;
using namespace alula::kernel;

namespace {
constexpr int64_t minSize = 8;

bool isSmaller(Value size, int64_t limit) {
  return getConstantIntValue(size).value_or(limit) < limit;
}

/// Of elements that can be moved as numbers; else 0.
unsigned getBits(Type element) {
  auto complex = dyn_cast<ComplexType>(element);
  unsigned bits = complex ? 2 * complex.getElementType().getIntOrFloatBitWidth()
                  : element.isIntOrFloat() ? element.getIntOrFloatBitWidth()
                                           : 0;
  return bits >= 8 && bits <= 128 && llvm::isPowerOf2_32(bits) ? bits : 0;
}

/// Rows and columns of a block of the target.
struct BlockShape {
  int64_t rows, columns;
  bool isStrip;

  /// The target's size in all, and of the two dimensions.
  BlockShape(unsigned bits, Value all, Value allRows, Value allColumns,
             const alula::dispatch::MachineFacts &machine) {
    int64_t bytes = bits / 8, line = machine.lineBytes;
    // With shorter rows and columns there are too many lines of which only a
    // part is written, or read.
    int64_t minRowBytes = machine.l1Bytes / 16, minColumnBytes = 2 * line;
    auto hasBytes = [&](Value size, int64_t limit) {
      return getConstantIntValue(size).value_or(0) >= limit / bytes;
    };
    // What no cache holds is written past them.
    isStrip = hasBytes(all, machine.getLastCacheBytes()) &&
              hasBytes(allRows, minColumnBytes) &&
              hasBytes(allColumns, minRowBytes);
    // Blocks of source and target stay in the first cache together.
    int64_t side = std::clamp(4 * line / bytes, line / 2, 2 * line);
    rows = isStrip ? ALULA_TRANSPOSE_STRIP(bits) : side;
    columns = isStrip
                  ? std::max(machine.l1Bytes / 32, machine.l1Bytes / 8 / bytes)
                  : side;
  }
};
} // namespace

bool alula::cpu::fillTransposed(Value buffer, Value tensor,
                                Lowering &lowering) {
  auto transpose = tensor.getDefiningOp<stablehlo::TransposeOp>();
  if (!transpose || lowering.hasBuffer(tensor) ||
      !lowering.hasBuffer(transpose.getOperand()))
    return false;
  Value source = lowering.getBuffer(transpose.getOperand());
  auto sourceType = cast<MemRefType>(source.getType());
  auto targetType = cast<MemRefType>(buffer.getType());
  Type element = sourceType.getElementType();
  unsigned bits = getBits(element);
  ArrayRef<int64_t> permutation = transpose.getPermutation();
  if (permutation.size() < 2 || !bits ||
      targetType.getElementType() != element ||
      !sourceType.getLayout().isIdentity() ||
      !targetType.getLayout().isIdentity())
    return false;
  size_t last = permutation.size() - 1;
  auto crossed = static_cast<size_t>(
      llvm::find(permutation, static_cast<int64_t>(last)) - permutation.begin());
  SmallVector<Value> sizes = lowering.getShape(tensor);
  // Below this, loops of scalars are as fast.
  int64_t minElements = lowering.machine.l1Bytes / 8;
  if (crossed == last || isSmaller(lowering.product(sizes), minElements) ||
      isSmaller(sizes[crossed], minSize) || isSmaller(sizes[last], minSize))
    return false;

  SmallVector<Value> sourceSizes = lowering.getShape(transpose.getOperand());
  SmallVector<Value> strides = lowering.getStrides(sizes);
  SmallVector<Value> sourceStrides = lowering.getStrides(sourceSizes);
  BlockShape shape(bits, lowering.product(sizes), sizes[crossed], sizes[last],
                   lowering.machine);
  SmallVector<Value> grid(sizes), sides(sizes.size(), lowering.index(1));
  sides[crossed] = lowering.index(shape.rows);
  sides[last] = lowering.index(shape.columns);
  for (size_t dim : {crossed, last})
    grid[dim] = lowering.ceilDiv(sizes[dim], sides[dim]);
  ImplicitLocOpBuilder &b = lowering.b;
  auto toInteger = [&](Value index) -> Value {
    return b.create<arith::IndexCastOp>(b.getI64Type(), index);
  };
  auto getPointer = [&](Value memory, Value number) -> Value {
    Value pointer = lowering.getPointer(memory);
    return b.create<LLVM::GEPOp>(pointer.getType(), b.getIntegerType(bits),
                                 pointer, LLVM::GEPArg(toInteger(number)));
  };
  lowering.forEachBlock(
      lowering.product(grid), shape.rows * shape.columns, [&](Value number) {
        // Strips that read the same rows of the source follow each other.
        SmallVector<Value> order(grid);
        if (shape.isStrip)
          std::swap(order[crossed], order[last]);
        SmallVector<Value> first = lowering.delinearize(number, order);
        if (shape.isStrip)
          std::swap(first[crossed], first[last]);
        SmallVector<Value> from(first);
        for (size_t dim : {crossed, last})
          first[dim] = lowering.mul(first[dim], sides[dim]);
        for (auto [position, dim] : llvm::enumerate(permutation))
          from[static_cast<size_t>(dim)] = first[position];
        auto count = [&](size_t dim) {
          return toInteger(
              lowering.min(sides[dim], lowering.sub(sizes[dim], first[dim])));
        };
        SmallVector<Value> arguments = {
            getPointer(buffer, lowering.linearize(first, sizes)),
            toInteger(strides[crossed]),
            getPointer(source, lowering.linearize(from, sourceSizes)),
            toInteger(sourceStrides[static_cast<size_t>(permutation[last])]),
            count(crossed), count(last)};
        if (shape.isStrip)
          arguments.push_back(lowering.getPointer(lowering.createTemporary(
              {lowering.index(ALULA_TRANSPOSE_SCRATCH)}, b.getI8Type())));
        lowering.callLibrary("alula_transpose_" +
                                 Twine(shape.isStrip ? "strip_" : "") +
                                 Twine(bits),
                             arguments);
      });
  return true;
}
