// Temporaries, and the order in which memory is written.

#include "compiler/target/cpu/kernel/memory.h"

#include "compiler/target/cpu/kernel/transposed_copy.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace alula::cpu;
using namespace alula::kernel;

Value CpuMemory::allocate(ValueRange sizes, Type memoryType) {
  SmallVector<int64_t> shape;
  SmallVector<Value> dynamic;
  for (Value size : sizes) {
    std::optional<int64_t> constant = getConstantIntValue(size);
    shape.push_back(constant ? *constant : ShapedType::kDynamic);
    if (!constant)
      dynamic.push_back(size);
  }
  return lowering.b.create<memref::AllocOp>(MemRefType::get(shape, memoryType),
                                            dynamic);
}

void CpuMemory::fill(ArrayRef<Filling> fillings) {
  if (fillings.size() == 1 &&
      fillTransposed(fillings[0].buffer, fillings[0].tensor, lowering))
    return;
  SmallVector<Value> tensors;
  for (const Filling &filling : fillings)
    tensors.push_back(filling.tensor);
  forEachElement(tensors, [&](ValueRange indices) {
    SmallVector<Value> elements;
    for (Value tensor : tensors)
      elements.push_back(lowering.getElement(tensor, indices));
    for (auto [filling, element] : llvm::zip_equal(fillings, elements))
      lowering.store(element, getElementType(filling.tensor), filling.buffer,
                     indices);
  });
}

/// The dimension, not the last one, along which something that is read for the
/// elements of `tensor` has its neighbours in memory.
std::optional<size_t> CpuMemory::findCrossedDim(Value tensor, unsigned depth) {
  constexpr unsigned maxDepth = 8;
  if (depth > maxDepth || !lowering.isInlined(tensor))
    return {};
  Operation *op = tensor.getDefiningOp();
  if (auto transpose = dyn_cast<stablehlo::TransposeOp>(op)) {
    ArrayRef<int64_t> permutation = transpose.getPermutation();
    auto last = static_cast<int64_t>(permutation.size()) - 1;
    auto dim = static_cast<size_t>(llvm::find(permutation, last) -
                                   permutation.begin());
    bool isCrossed = lowering.hasBuffer(transpose.getOperand()) &&
                     dim + 1 != permutation.size();
    return isCrossed ? std::optional(dim) : std::nullopt;
  }
  if (op->hasTrait<mlir::OpTrait::Elementwise>())
    for (Value operand : op->getOperands())
      if (auto dim = findCrossedDim(operand, depth + 1))
        return dim;
  return {};
}

void CpuMemory::forEachInSquares(ValueRange sizes, size_t first, size_t second,
                                 Loops::Body body) {
  // A cache line of floats.
  Value side = lowering.index(lowering.machine.lineBytes / 4);
  SmallVector<Value> squares(sizes);
  for (size_t dim : {first, second})
    squares[dim] = lowering.ceilDiv(sizes[dim], side);
  lowering.forEach(squares, [&](ValueRange square) {
    Value row = lowering.mul(square[first], side),
          column = lowering.mul(square[second], side);
    Value rows = lowering.min(side, lowering.sub(sizes[first], row));
    Value columns = lowering.min(side, lowering.sub(sizes[second], column));
    lowering.forEach({rows, columns}, [&](ValueRange inside) {
      SmallVector<Value> indices(square);
      indices[first] = lowering.add(row, inside[0]);
      indices[second] = lowering.add(column, inside[1]);
      body(indices);
    });
  });
}

void CpuMemory::forEachElement(ArrayRef<Value> tensors, Loops::Body body) {
  // Less than this stays in the cache anyway.
  int64_t minElements = lowering.machine.l1Bytes / 8,
          minSize = lowering.machine.lineBytes / 2;
  SmallVector<Value> sizes = lowering.getShape(tensors.front());
  auto isLarge = [&](Value size, int64_t limit) {
    return getConstantIntValue(size).value_or(limit) >= limit;
  };
  if (sizes.size() > 1 && isLarge(lowering.product(sizes), minElements))
    for (Value tensor : tensors)
      if (auto dim = findCrossedDim(tensor); dim &&
                                             isLarge(sizes[*dim], minSize) &&
                                             isLarge(sizes.back(), minSize))
        return forEachInSquares(sizes, *dim, sizes.size() - 1, body);
  lowering.forEach(sizes, body);
}
