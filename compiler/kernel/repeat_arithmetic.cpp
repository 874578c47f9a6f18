#include "compiler/kernel/repeat_arithmetic.h"

#include "dialect/dispatch/machine.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

int64_t alula::kernel::getElementBytes(Type element) {
  int64_t parts = 1;
  if (auto complex = dyn_cast<ComplexType>(element)) {
    parts = 2;
    element = complex.getElementType();
  }
  if (element.isIndex())
    return sizeof(int64_t);
  return parts * static_cast<int64_t>(
                     llvm::divideCeil(element.getIntOrFloatBitWidth(), 8));
}

bool alula::kernel::repeatArithmetic(Value value, OpBuilder &builder,
                                     IRMapping &mapping) {
  if (mapping.contains(value))
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || !isa<arith::ArithDialect>(op->getDialect()))
    return false;
  for (Value operand : op->getOperands())
    if (!repeatArithmetic(operand, builder, mapping))
      return false;
  builder.clone(*op, mapping);
  return true;
}

Value alula::kernel::computeTemporaryBytes(memref::AllocOp alloc,
                                           OpBuilder &builder,
                                           IRMapping &mapping,
                                           SmallVectorImpl<Value> &sizes) {
  Location location = alloc.getLoc();
  auto make = [&](int64_t value) -> Value {
    return builder.create<arith::ConstantIndexOp>(location, value);
  };
  int64_t fixed = getElementBytes(alloc.getType().getElementType());
  for (int64_t size : alloc.getType().getShape())
    if (!ShapedType::isDynamic(size))
      fixed *= size;
  Value bytes = make(fixed);
  for (Value size : alloc.getDynamicSizes()) {
    if (!repeatArithmetic(size, builder, mapping))
      return {};
    sizes.push_back(mapping.lookup(size));
    bytes = builder.create<arith::MulIOp>(location, bytes, sizes.back());
  }
  int64_t alignment = dispatch::getMachine(alloc).alignment;
  Value lines = builder.create<arith::DivUIOp>(
      location,
      builder.create<arith::AddIOp>(location, bytes, make(alignment - 1)),
      make(alignment));
  return builder.create<arith::MulIOp>(location, lines, make(alignment));
}
