// Arithmetic of complex numbers.

#include "compiler/kernel/scalar.h"

#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace alula::kernel;

namespace {
class ComplexEmitter {
public:
  ComplexEmitter(Lowering &lowering, Operation *op, ValueRange args)
      : lowering(lowering), b(lowering.b), op(op), args(args) {}

  Value emit();

private:
  Value re(unsigned i) {
    return isa<ComplexType>(args[i].getType())
               ? b.create<complex::ReOp>(args[i]).getResult()
               : args[i];
  }
  Value im(unsigned i) {
    return isa<ComplexType>(args[i].getType())
               ? b.create<complex::ImOp>(args[i]).getResult()
               : lowering.zero(args[i].getType());
  }
  Value make(Value real, Value imaginary) {
    return b.create<complex::CreateOp>(ComplexType::get(real.getType()), real,
                                       imaginary);
  }
  template <typename Op> Value ofParts() {
    return make(b.create<Op>(re(0), re(1)), b.create<Op>(im(0), im(1)));
  }
  Value compare(stablehlo::ComparisonDirection direction);

  Lowering &lowering;
  ImplicitLocOpBuilder &b;
  Operation *op;
  ValueRange args;
};

Value ComplexEmitter::compare(stablehlo::ComparisonDirection direction) {
  bool isEqual = direction == stablehlo::ComparisonDirection::EQ;
  if (!isEqual && direction != stablehlo::ComparisonDirection::NE)
    return {};
  auto predicate =
      isEqual ? arith::CmpFPredicate::OEQ : arith::CmpFPredicate::UNE;
  Value real = b.create<arith::CmpFOp>(predicate, re(0), re(1));
  Value imaginary = b.create<arith::CmpFOp>(predicate, im(0), im(1));
  return isEqual ? b.create<arith::AndIOp>(real, imaginary).getResult()
                 : b.create<arith::OrIOp>(real, imaginary).getResult();
}

Value ComplexEmitter::emit() {
  Value result =
      llvm::TypeSwitch<Operation *, Value>(op)
          .Case([&](stablehlo::ComplexOp) { return make(args[0], args[1]); })
          .Case([&](stablehlo::RealOp) { return re(0); })
          .Case([&](stablehlo::ImagOp) { return im(0); })
          .Case([&](stablehlo::AddOp) { return ofParts<arith::AddFOp>(); })
          .Case([&](stablehlo::SubtractOp) { return ofParts<arith::SubFOp>(); })
          .Case([&](stablehlo::MulOp) {
            Value real = b.create<arith::SubFOp>(
                b.create<arith::MulFOp>(re(0), re(1)),
                b.create<arith::MulFOp>(im(0), im(1)));
            Value imaginary = b.create<arith::AddFOp>(
                b.create<arith::MulFOp>(re(0), im(1)),
                b.create<arith::MulFOp>(im(0), re(1)));
            return make(real, imaginary);
          })
          .Case([&](stablehlo::NegOp) {
            return make(b.create<arith::NegFOp>(re(0)),
                        b.create<arith::NegFOp>(im(0)));
          })
          .Case([&](stablehlo::CompareOp compareOp) {
            return compare(compareOp.getComparisonDirection());
          })
          .Default([](Operation *) { return Value(); });
  if (result)
    return result;
  return lowering.decline(
      op, "for elements of type " + debugString(args[0].getType()),
      getValueType(getElementType(op->getResult(0))));
}
} // namespace

Value alula::kernel::lowerComplexScalar(Lowering &lowering, Operation *op,
                                        ValueRange arguments) {
  return ComplexEmitter(lowering, op, arguments).emit();
}
