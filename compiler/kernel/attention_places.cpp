#include "compiler/kernel/attention_places.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace alula::kernel;
using alula::dispatch::AttentionOperand;
using alula::dispatch::AxisDigit;
using alula::dispatch::AxisLayout;

SmallVector<Value> AttentionPlaces::getSizes(ArrayRef<int64_t> axes) {
  return llvm::map_to_vector(axes, [&](int64_t axis) -> Value {
    return reader.index(attention.sizes[static_cast<size_t>(axis)]);
  });
}

void AttentionPlaces::setIndices(ArrayRef<int64_t> axes, Value number) {
  SmallVector<Value> sizes = getSizes(axes);
  if (sizes.empty())
    return;
  for (auto [axis, index] :
       llvm::zip_equal(axes, reader.delinearize(number, sizes)))
    indices[static_cast<size_t>(axis)] = index;
}

Value AttentionPlaces::getDigit(const AxisDigit &digit) {
  Value index = indices[static_cast<size_t>(digit.axis)];
  if (digit.stride != 1)
    index = reader.div(index, reader.index(digit.stride));
  int64_t size = attention.sizes[static_cast<size_t>(digit.axis)];
  return digit.stride * digit.size == size
             ? index
             : reader.rem(index, reader.index(digit.size));
}

SmallVector<Value> AttentionPlaces::getPlace(const AxisLayout &layout) {
  SmallVector<Value> place;
  for (const auto &dim : layout) {
    Value index = reader.index(0);
    for (const AxisDigit &digit : dim)
      index = reader.add(reader.mul(index, reader.index(digit.size)),
                         getDigit(digit));
    place.push_back(index);
  }
  return place;
}

Value AttentionPlaces::getPointer(const AttentionOperand &matrix,
                                  Value memory) {
  Value pointer = reader.getPointer(memory);
  Value offset = reader.index(matrix.offset);
  for (const auto &[digit, stride] : matrix.strides)
    if (llvm::is_contained(attention.batch, digit.axis))
      offset =
          reader.add(offset, reader.mul(getDigit(digit), reader.index(stride)));
  if (getConstantIntValue(offset) == 0)
    return pointer;
  auto &b = reader.b;
  Value number = b.create<arith::IndexCastOp>(b.getI64Type(), offset);
  return b.create<LLVM::GEPOp>(pointer.getType(),
                               getMemoryType(getElementType(matrix.base)),
                               pointer, ValueRange{number});
}
