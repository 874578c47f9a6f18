// bitcast_convert: the bits of elements as elements of another type.

#include "compiler/kernel/element/generators.h"
#include "compiler/kernel/element/reader.h"
#include "compiler/kernel/element/scalar.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace alula::kernel;

namespace {
unsigned getBits(Type element) {
  if (auto complex = dyn_cast<ComplexType>(element))
    return 2 * complex.getElementType().getIntOrFloatBitWidth();
  if (isa<IntegerType, FloatType>(element))
    return element.getIntOrFloatBitWidth();
  // The types that MLIR lacks say their width in their name: f4E2M1FN.
  return static_cast<unsigned>(getLibraryName(element)[1] - '0');
}

Value toBits(Reader &reader, Value value, Type element) {
  ImplicitLocOpBuilder &b = reader.b;
  Type type = b.getIntegerType(getBits(element));
  if (isa<IntegerType>(element))
    return value;
  if (auto complex = dyn_cast<ComplexType>(element)) {
    Type part = complex.getElementType();
    Value real = toBits(reader, b.create<complex::ReOp>(value), part);
    Value imaginary = toBits(reader, b.create<complex::ImOp>(value), part);
    Value high = b.create<arith::ShLIOp>(
        b.create<arith::ExtUIOp>(type, imaginary),
        makeInteger(reader, type, part.getIntOrFloatBitWidth()));
    return b.create<arith::OrIOp>(high, b.create<arith::ExtUIOp>(type, real));
  }
  if (isSmallFloat(element))
    return b.create<arith::TruncIOp>(
        type, reader.callLibrary("alula_encode_" + getLibraryName(element),
                                 b.getI32Type(), value));
  return b.create<arith::BitcastOp>(type, value);
}

Value fromBits(Reader &reader, Value bits, Type element) {
  ImplicitLocOpBuilder &b = reader.b;
  if (isa<IntegerType>(element))
    return bits;
  if (auto complex = dyn_cast<ComplexType>(element)) {
    Type part = complex.getElementType();
    unsigned width = part.getIntOrFloatBitWidth();
    Type half = b.getIntegerType(width);
    Value high = b.create<arith::ShRUIOp>(
        bits, makeInteger(reader, bits.getType(), width));
    return b.create<complex::CreateOp>(
        complex, fromBits(reader, b.create<arith::TruncIOp>(half, bits), part),
        fromBits(reader, b.create<arith::TruncIOp>(half, high), part));
  }
  if (isSmallFloat(element))
    return reader.callLibrary(
        "alula_decode_" + getLibraryName(element), b.getF32Type(),
        b.create<arith::ExtUIOp>(b.getI32Type(), bits).getResult());
  // Not arith.bitcast, which takes two of them for none, whatever the types.
  return b.create<LLVM::BitcastOp>(element, bits);
}
} // namespace

Value alula::kernel::generateBitcast(OpResult result, ValueRange indices,
                                     Reader &reader) {
  ImplicitLocOpBuilder &b = reader.b;
  Value operand = result.getOwner()->getOperand(0);
  Type from = getElementType(operand), to = getElementType(result);
  unsigned fromBits_ = getBits(from), toBits_ = getBits(to);
  if (fromBits_ == toBits_)
    return fromBits(
        reader, toBits(reader, reader.getElement(operand, indices), from), to);
  Type wide = b.getIntegerType(std::max(fromBits_, toBits_));
  if (fromBits_ > toBits_) {
    // The last index says which part, the lowest first.
    Value bits =
        toBits(reader, reader.getElement(operand, indices.drop_back()), from);
    Value part = b.create<arith::IndexCastOp>(b.getI64Type(), indices.back());
    Value shift = b.create<arith::MulIOp>(
        part, makeInteger(reader, b.getI64Type(), toBits_));
    if (wide.getIntOrFloatBitWidth() > 64)
      shift = b.create<arith::ExtUIOp>(wide, shift);
    else if (wide.getIntOrFloatBitWidth() < 64)
      shift = b.create<arith::TruncIOp>(wide, shift);
    bits = b.create<arith::ShRUIOp>(bits, shift);
    return fromBits(
        reader, b.create<arith::TruncIOp>(b.getIntegerType(toBits_), bits), to);
  }
  Value all = makeInteger(reader, wide, 0);
  for (unsigned part = 0; part < toBits_ / fromBits_; ++part) {
    SmallVector<Value> source(indices);
    source.push_back(reader.index(part));
    Value bits = b.create<arith::ExtUIOp>(
        wide, toBits(reader, reader.getElement(operand, source), from));
    all = b.create<arith::OrIOp>(
        all, b.create<arith::ShLIOp>(
                 bits, makeInteger(reader, wide, part * fromBits_)));
  }
  return fromBits(reader, all, to);
}
