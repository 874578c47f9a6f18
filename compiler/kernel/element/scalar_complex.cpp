// Arithmetic of complex numbers.

#include "compiler/kernel/element/element_form.h"
#include "compiler/kernel/element/scalar.h"

#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace alula::kernel;

namespace {
/// The library's name of a function; empty for other ops.
StringRef getFunctionName(Operation *op) {
  return llvm::TypeSwitch<Operation *, StringRef>(op)
      .Case([](stablehlo::Atan2Op) { return "atan2"; })
      .Case([](stablehlo::CbrtOp) { return "cbrt"; })
      .Case([](stablehlo::CosineOp) { return "cos"; })
      .Case([](stablehlo::DivOp) { return "divide"; })
      .Case([](stablehlo::ExpOp) { return "exp"; })
      .Case([](stablehlo::Expm1Op) { return "expm1"; })
      .Case([](stablehlo::LogOp) { return "log"; })
      .Case([](stablehlo::Log1pOp) { return "log1p"; })
      .Case([](stablehlo::LogisticOp) { return "logistic"; })
      .Case([](stablehlo::PowOp) { return "pow"; })
      .Case([](stablehlo::RsqrtOp) { return "rsqrt"; })
      .Case([](stablehlo::SignOp) { return "sign"; })
      .Case([](stablehlo::SineOp) { return "sin"; })
      .Case([](stablehlo::SqrtOp) { return "sqrt"; })
      .Case([](stablehlo::TanOp) { return "tan"; })
      .Case([](stablehlo::TanhOp) { return "tanh"; })
      .Default([](Operation *) { return ""; });
}

class ComplexEmitter {
public:
  ComplexEmitter(CodeBuilder &builder, Operation *op, ValueRange args)
      : builder(builder), b(builder.b), op(op), args(args) {}

  Value emit();

private:
  Value re(Value number) {
    return isa<ComplexType>(number.getType())
               ? b.create<complex::ReOp>(number).getResult()
               : number;
  }
  Value im(Value number) {
    return isa<ComplexType>(number.getType())
               ? b.create<complex::ImOp>(number).getResult()
               : builder.zero(number.getType());
  }
  Value re(unsigned i) { return re(args[i]); }
  Value im(unsigned i) { return im(args[i]); }
  Value make(Value real, Value imaginary) {
    return b.create<complex::CreateOp>(ComplexType::get(real.getType()), real,
                                       imaginary);
  }
  template <typename Op> Value ofParts() {
    return make(b.create<Op>(re(0), re(1)), b.create<Op>(im(0), im(1)));
  }
  Value compare(stablehlo::ComparisonDirection direction);
  std::string getSuffix() {
    return re(0).getType().isF64() ? "_c128" : "_c64";
  }
  Value call(StringRef name);
  Value minMax(bool isMax, Value x, Value y);

  CodeBuilder &builder;
  ImplicitLocOpBuilder &b;
  Operation *op;
  ValueRange args;
};

// In lexicographic order.
Value ComplexEmitter::compare(stablehlo::ComparisonDirection direction) {
  using Direction = stablehlo::ComparisonDirection;
  auto compareParts = [&](arith::CmpFPredicate predicate, Value x, Value y) {
    return b.create<arith::CmpFOp>(predicate, x, y).getResult();
  };
  Value isSameReal =
      compareParts(arith::CmpFPredicate::OEQ, re(0), re(1));
  if (direction == Direction::EQ)
    return b.create<arith::AndIOp>(
        isSameReal, compareParts(arith::CmpFPredicate::OEQ, im(0), im(1)));
  if (direction == Direction::NE)
    return b.create<arith::OrIOp>(
        compareParts(arith::CmpFPredicate::UNE, re(0), re(1)),
        compareParts(arith::CmpFPredicate::UNE, im(0), im(1)));
  bool isLess = direction == Direction::LT || direction == Direction::LE;
  auto strict = isLess ? arith::CmpFPredicate::OLT : arith::CmpFPredicate::OGT;
  auto last = direction == Direction::LE   ? arith::CmpFPredicate::OLE
              : direction == Direction::GE ? arith::CmpFPredicate::OGE
                                           : strict;
  return b.create<arith::OrIOp>(
      compareParts(strict, re(0), re(1)),
      b.create<arith::AndIOp>(isSameReal, compareParts(last, im(0), im(1))));
}

// The library writes both parts of its result.
Value ComplexEmitter::call(StringRef name) {
  SmallVector<Value> arguments;
  for (unsigned i = 0; i < args.size(); ++i)
    llvm::append_values(arguments, re(i), im(i));
  Type part = arguments.front().getType();
  Value real = builder.getPartMemory(part, 0);
  Value imaginary = builder.getPartMemory(part, 1);
  llvm::append_values(arguments, builder.getPointer(real),
                      builder.getPointer(imaginary));
  builder.callLibrary("alula_" + name + getSuffix(), arguments);
  return make(b.create<memref::LoadOp>(real),
              b.create<memref::LoadOp>(imaginary));
}

// In lexicographic order; a NaN in either part wins, as for reals.
Value ComplexEmitter::minMax(bool isMax, Value x, Value y) {
  auto before = isMax ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT;
  auto compareReals = [&](arith::CmpFPredicate predicate, Value a, Value other) {
    return b.create<arith::CmpFOp>(predicate, a, other).getResult();
  };
  Value isSameReal = compareReals(arith::CmpFPredicate::OEQ, re(x), re(y));
  Value isFirst = b.create<arith::SelectOp>(
      isSameReal, compareReals(before, im(x), im(y)),
      compareReals(before, re(x), re(y)));
  Value isNan = b.create<arith::OrIOp>(
      compareReals(arith::CmpFPredicate::UNO, re(x), re(x)),
      compareReals(arith::CmpFPredicate::UNO, im(x), im(x)));
  return b.create<arith::SelectOp>(b.create<arith::OrIOp>(isFirst, isNan), x,
                                   y);
}

Value ComplexEmitter::emit() {
  if (StringRef name = getFunctionName(op); !name.empty())
    return call(name);
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
          .Case([&](stablehlo::AbsOp) {
            return builder.callLibrary("alula_abs" + getSuffix(),
                                       re(0).getType(), {re(0), im(0)});
          })
          .Case([&](stablehlo::MaxOp) {
            return minMax(/*isMax=*/true, args[0], args[1]);
          })
          .Case([&](stablehlo::MinOp) {
            return minMax(/*isMax=*/false, args[0], args[1]);
          })
          .Case([&](stablehlo::ClampOp) {
            Value notBelow = minMax(/*isMax=*/true, args[0], args[1]);
            return minMax(/*isMax=*/false, notBelow, args[2]);
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
  return builder.decline(
      op, "for elements of type " + debugString(args[0].getType()),
      getValueType(getElementType(op->getResult(0))));
}
} // namespace

Value alula::kernel::lowerComplexScalar(CodeBuilder &builder, Operation *op,
                                        ValueRange arguments) {
  return ComplexEmitter(builder, op, arguments).emit();
}
