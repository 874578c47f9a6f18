// Copies with dimensions in another order, where neighbours in memory do not
// stay neighbours.
//   for each block:  alula_transpose_32(to, to_row, from, from_row, 64, 64)
// Of what no cache holds, blocks are strips: few rows of the target, many
// columns.

#include "compiler/target/cpu/kernel/transposed_copy.h"

#include "compiler/kernel/library/transpose.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace alula::cpu;
using namespace alula::kernel;

void alula::cpu::fillTransposed(const Filling &filling, const FillOrder &order,
                                Lowering &lowering) {
  auto [buffer, tensor] = filling;
  auto transpose = tensor.getDefiningOp<stablehlo::TransposeOp>();
  Value source = lowering.getBuffer(transpose.getOperand());
  Type element = cast<MemRefType>(source.getType()).getElementType();
  auto complex = dyn_cast<ComplexType>(element);
  unsigned bits = complex ? 2 * complex.getElementType().getIntOrFloatBitWidth()
                          : element.getIntOrFloatBitWidth();
  ArrayRef<int64_t> permutation = transpose.getPermutation();
  size_t last = permutation.size() - 1;
  auto crossed =
      static_cast<size_t>(llvm::find(permutation, static_cast<int64_t>(last)) -
                          permutation.begin());
  SmallVector<Value> sizes = lowering.getShape(tensor);
  SmallVector<Value> sourceSizes = lowering.getShape(transpose.getOperand());
  SmallVector<Value> strides = lowering.getStrides(sizes);
  SmallVector<Value> sourceStrides = lowering.getStrides(sourceSizes);
  bool isStrip = order.way == alula::plan::Way::Strips;
  SmallVector<Value> grid(sizes), sides(sizes.size(), lowering.index(1));
  for (size_t dim : {crossed, last})
    sides[dim] = lowering.index(order.tile[dim]);
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
      lowering.product(grid), order.tile[crossed] * order.tile[last],
      [&](Value number) {
        // Strips that read the same rows of the source follow each other.
        SmallVector<Value> order(grid);
        if (isStrip)
          std::swap(order[crossed], order[last]);
        SmallVector<Value> first = lowering.delinearize(number, order);
        if (isStrip)
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
            count(crossed),
            count(last)};
        if (isStrip)
          arguments.push_back(lowering.getPointer(lowering.createTemporary(
              {lowering.index(ALULA_TRANSPOSE_SCRATCH)}, b.getI8Type())));
        lowering.callLibrary("alula_transpose_" +
                                 Twine(isStrip ? "strip_" : "") + Twine(bits),
                             arguments);
      });
}
