// Terms of sums, and sums as elements.

#include "compiler/kernel/element/element_form.h"
#include "compiler/kernel/element/scalar.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"

using namespace mlir;
using namespace alula::kernel;

// The type of a sum is a value type, where f32 also stands for the small
// floats.
Value alula::kernel::widenForSum(CodeBuilder &code, Operation *op, Value value,
                                 Type element, Type sumType) {
  if (isa<FloatType>(sumType) && isa<FloatType>(value.getType())) {
    value = widenFloat(code, value);
    if (value.getType() == sumType)
      return value;
  }
  return convertScalar(code, op, value, element, sumType);
}

Value alula::kernel::multiplyAdd(CodeBuilder &code, Value a, Value b, Value sum,
                                 std::optional<int64_t> count) {
  constexpr int64_t few = 16;
  ImplicitLocOpBuilder &builder = code.b;
  if (sum.getType().isInteger(1))
    return builder.create<arith::OrIOp>(sum,
                                        builder.create<arith::AndIOp>(a, b));
  if (isa<IntegerType>(sum.getType()))
    return builder.create<arith::AddIOp>(sum,
                                         builder.create<arith::MulIOp>(a, b));
  auto order = count && *count <= few ? arith::FastMathFlags::none
                                      : arith::FastMathFlags::reassoc;
  // Products of reals may join their sum in one rounding.
  auto fast = arith::FastMathFlags::contract | order;
  auto multiplyAddReal = [&](Value x, Value y, Value z) -> Value {
    return builder.create<arith::AddFOp>(
        builder.create<arith::MulFOp>(x, y, fast), z, fast);
  };
  if (isa<FloatType>(sum.getType()))
    return multiplyAddReal(a, b, sum);
  auto re = [&](Value x) -> Value { return builder.create<complex::ReOp>(x); };
  auto im = [&](Value x) -> Value { return builder.create<complex::ImOp>(x); };
  // Not so those of parts: the product of a number and its conjugate is real.
  auto product = [&](Value x, Value y) -> Value {
    return builder.create<arith::MulFOp>(x, y);
  };
  auto add = [&](Value x, Value y) -> Value {
    return builder.create<arith::AddFOp>(x, y, order);
  };
  Value difference = builder.create<arith::SubFOp>(product(re(a), re(b)),
                                                   product(im(a), im(b)));
  Value mixed = builder.create<arith::AddFOp>(product(re(a), im(b)),
                                              product(im(a), re(b)));
  Value real = add(re(sum), difference), imaginary = add(im(sum), mixed);
  return builder.create<complex::CreateOp>(sum.getType(), real, imaginary);
}

Value alula::kernel::roundSum(CodeBuilder &code, Value sum, Type element) {
  auto value = dyn_cast<IntegerType>(getValueType(element));
  ImplicitLocOpBuilder &b = code.b;
  if (!isa<FloatType>(sum.getType()))
    return value && value.getWidth() < sum.getType().getIntOrFloatBitWidth()
               ? b.create<arith::TruncIOp>(value, sum).getResult()
               : sum;
  if (!value)
    return roundFloat(code, sum, element);
  // An exact one, of which integers keep the lower bits.
  Type whole = b.getIntegerType(sum.getType().isF32() ? 32 : 64);
  Value number = b.create<arith::FPToSIOp>(whole, sum);
  if (value.getWidth() == whole.getIntOrFloatBitWidth())
    return number;
  if (value.getWidth() > whole.getIntOrFloatBitWidth())
    return b.create<arith::ExtSIOp>(value, number);
  return b.create<arith::TruncIOp>(value, number);
}
