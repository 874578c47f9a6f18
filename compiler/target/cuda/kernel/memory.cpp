#include "compiler/target/cuda/kernel/memory.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace alula::cuda;
using namespace alula::kernel;

Value CudaMemory::allocate(ValueRange sizes, Type memoryType) {
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

void CudaMemory::fill(ArrayRef<Filling> fillings) {
  lowering.forEach(
      lowering.getShape(fillings[0].tensor), [&](ValueRange indices) {
        SmallVector<Value> elements;
        for (const Filling &filling : fillings)
          elements.push_back(lowering.getElement(filling.tensor, indices));
        for (auto [filling, element] : llvm::zip_equal(fillings, elements))
          lowering.store(element, getElementType(filling.tensor),
                         filling.buffer, indices);
      });
}
