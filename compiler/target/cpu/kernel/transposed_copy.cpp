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
#include "mlir/Dialect/Utils/StaticValueUtils.h"

#include <array>

using namespace mlir;
using namespace alula::cpu;
using namespace alula::kernel;

namespace {
/// A transpose of memory whose last dimension goes elsewhere.
class Crossing {
public:
  Crossing(stablehlo::TransposeOp transpose, Lowering &lowering)
      : lowering(lowering), permutation(transpose.getPermutation()),
        source(lowering.getBuffer(transpose.getOperand())),
        element(cast<MemRefType>(source.getType()).getElementType()),
        crossed(getCrossedDim(transpose)), last(permutation.size() - 1),
        sourceSizes(lowering.getShape(transpose.getOperand())),
        sourceStrides(lowering.getStrides(sourceSizes)) {}

  Type getElement() const { return element; }
  std::array<size_t, 2> getDims() const { return {crossed, last}; }

  Value getPointer(Value memory, Value number) const {
    ImplicitLocOpBuilder &b = lowering.b;
    Value pointer = lowering.getPointer(memory);
    return b.create<LLVM::GEPOp>(pointer.getType(),
                                 b.getIntegerType(countBits()), pointer,
                                 LLVM::GEPArg(toInteger(number)));
  }

  /// So many elements of the crossed dimension, in rows of the last one, from
  /// those of the result at `first` on.
  void copy(Value to, Value row, ValueRange first, Value rows, Value columns,
            bool isStrip = false) const {
    SmallVector<Value> from(first);
    for (auto [position, dim] : llvm::enumerate(permutation))
      from[static_cast<size_t>(dim)] = first[position];
    SmallVector<Value> arguments = {
        to,
        toInteger(row),
        getPointer(source, lowering.linearize(from, sourceSizes)),
        toInteger(sourceStrides[static_cast<size_t>(permutation[last])]),
        toInteger(rows),
        toInteger(columns)};
    if (isStrip)
      arguments.push_back(lowering.getPointer(lowering.createTemporary(
          {lowering.index(ALULA_TRANSPOSE_SCRATCH)}, lowering.b.getI8Type())));
    lowering.callLibrary("alula_transpose_" + Twine(isStrip ? "strip_" : "") +
                             Twine(countBits()),
                         arguments);
  }

private:
  unsigned countBits() const {
    auto complex = dyn_cast<ComplexType>(element);
    return complex ? 2 * complex.getElementType().getIntOrFloatBitWidth()
                   : element.getIntOrFloatBitWidth();
  }
  Value toInteger(Value index) const {
    return lowering.b.create<arith::IndexCastOp>(lowering.b.getI64Type(),
                                                 index);
  }

  Lowering &lowering;
  ArrayRef<int64_t> permutation;
  Value source;
  Type element;
  size_t crossed, last;
  SmallVector<Value> sourceSizes, sourceStrides;
};
} // namespace

void alula::cpu::fillTransposed(const Filling &filling, const FillOrder &order,
                                Lowering &lowering) {
  auto [buffer, tensor] = filling;
  Crossing crossing(tensor.getDefiningOp<stablehlo::TransposeOp>(), lowering);
  auto [crossed, last] = crossing.getDims();
  SmallVector<Value> sizes = lowering.getShape(tensor);
  SmallVector<Value> strides = lowering.getStrides(sizes);
  bool isStrip = order.way == alula::plan::Way::Strips;
  SmallVector<Value> grid(sizes), sides(sizes.size(), lowering.index(1));
  for (size_t dim : {crossed, last})
    sides[dim] = lowering.index(order.tile[dim]);
  for (size_t dim : {crossed, last})
    grid[dim] = lowering.ceilDiv(sizes[dim], sides[dim]);
  lowering.forEachBlock(
      lowering.product(grid), order.tile[crossed] * order.tile[last],
      [&, crossed = crossed, last = last](Value number) {
        // Strips that read the same rows of the source follow each other.
        SmallVector<Value> order(grid);
        if (isStrip)
          std::swap(order[crossed], order[last]);
        SmallVector<Value> first = lowering.delinearize(number, order);
        if (isStrip)
          std::swap(first[crossed], first[last]);
        for (size_t dim : {crossed, last})
          first[dim] = lowering.mul(first[dim], sides[dim]);
        auto count = [&](size_t dim) {
          return lowering.min(sides[dim], lowering.sub(sizes[dim], first[dim]));
        };
        crossing.copy(
            crossing.getPointer(buffer, lowering.linearize(first, sizes)),
            strides[crossed], first, count(crossed), count(last), isStrip);
      });
}

void alula::cpu::copyTile(stablehlo::TransposeOp transpose, ValueRange first,
                          ValueRange count, ArrayRef<int64_t> tile,
                          Lowering &lowering) {
  Crossing crossing(transpose, lowering);
  auto [crossed, last] = crossing.getDims();
  Value row = lowering.index(tile[last]);
  Value memory = lowering.createTemporary({lowering.index(tile[crossed]), row},
                                          crossing.getElement());
  crossing.copy(crossing.getPointer(memory, lowering.index(0)), row, first,
                count[crossed], count[last]);
  // The tensor as it would lie if its tile were there: other dimensions do not
  // move what is read, and the first element of the tile is that of the memory.
  ImplicitLocOpBuilder &b = lowering.b;
  SmallVector<OpFoldResult> sizes, strides(tile.size(), b.getIndexAttr(0));
  strides[crossed] = b.getIndexAttr(tile[last]);
  strides[last] = b.getIndexAttr(1);
  SmallVector<int64_t> shape,
      typeStrides(tile.size(), int64_t(ShapedType::kDynamic));
  typeStrides[crossed] = tile[last];
  typeStrides[last] = 1;
  for (auto [dim, size] :
       llvm::enumerate(lowering.getShape(transpose.getResult()))) {
    sizes.push_back(getAsOpFoldResult(size));
    shape.push_back(
        getConstantIntValue(size).value_or(int64_t(ShapedType::kDynamic)));
    // A stride of zero can be computed with, but a type that says so can't be
    // read back.
    if (dim != crossed && dim != last)
      strides[dim] = lowering.index(0);
  }
  Value offset = lowering.sub(
      lowering.index(0),
      lowering.add(lowering.mul(first[crossed], row), first[last]));
  auto type =
      MemRefType::get(shape, crossing.getElement(),
                      StridedLayoutAttr::get(
                          b.getContext(), ShapedType::kDynamic, typeStrides));
  lowering.setBuffer(
      transpose.getResult(),
      b.create<memref::ReinterpretCastOp>(
          type, memory, getAsOpFoldResult(offset), sizes, strides));
}
