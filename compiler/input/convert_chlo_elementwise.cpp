// chlo.f(x) → the formula of f. Floats other than f32 and f64 are computed in
// f32, as hardware without them does.

#include "compiler/input/convert_chlo.h"
#include "compiler/input/special_functions.h"

#include "dialect/chlo/ops.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace alula::input;

namespace {
using Function = Num (*)(Num);
struct Functions {
  Function onReal = nullptr, onComplex = nullptr;
};

Functions getFunctions(Operation *op) {
  return llvm::TypeSwitch<Operation *, Functions>(op)
      .Case([](chlo::AcosOp) {
        return Functions{buildAcos, buildComplexAcos};
      })
      .Case([](chlo::AcoshOp) {
        return Functions{buildAcosh, buildComplexAcosh};
      })
      .Case([](chlo::AsinOp) {
        return Functions{buildAsin, buildComplexAsin};
      })
      .Case([](chlo::AsinhOp) {
        return Functions{buildAsinh, buildComplexAsinh};
      })
      .Case([](chlo::AtanOp) {
        return Functions{buildAtan, buildComplexAtan};
      })
      .Case([](chlo::AtanhOp) {
        return Functions{buildAtanh, buildComplexAtanh};
      })
      .Case([](chlo::CoshOp) {
        return Functions{buildCosh, buildComplexCosh};
      })
      .Case([](chlo::SinhOp) {
        return Functions{buildSinh, buildComplexSinh};
      })
      .Case([](chlo::SquareOp) {
        return Functions{buildSquare, buildComplexSquare};
      })
      .Case([](chlo::AsinAcosKernelOp) {
        return Functions{nullptr, buildAsinAcosKernel};
      })
      .Case([](chlo::BesselI1eOp) { return Functions{buildBesselI1e}; })
      .Case([](chlo::DigammaOp) { return Functions{buildDigamma}; })
      .Case([](chlo::ErfOp) { return Functions{buildErf}; })
      .Case([](chlo::ErfcOp) { return Functions{buildErfc}; })
      .Case([](chlo::ErfInvOp) { return Functions{buildErfInv}; })
      .Case([](chlo::LgammaOp) { return Functions{buildLgamma}; })
      .Default([](Operation *) { return Functions(); });
}

/// x in a type that the formulas take, and back.
Num widen(Num x) {
  if (isa<ComplexType, Float32Type, Float64Type>(x.element()))
    return x;
  return convert(x, x.math->builder.getF32Type());
}

/// True if the bits of a float are a sign and a magnitude in order, and -0 is
/// a number.
bool hasOrderedBits(Type type) {
  return isa<Float64Type, Float32Type, Float16Type, BFloat16Type,
             Float8E5M2Type, Float8E4M3Type, Float8E4M3FNType>(type);
}
} // namespace

void alula::input::replaceWithTyped(Operation *op, ValueRange values,
                                    IRRewriter &rewriter) {
  SmallVector<Value> typed(values);
  for (auto [value, type] : llvm::zip_equal(typed, op->getResultTypes()))
    if (value.getType() != type)
      value = rewriter.create<stablehlo::ConvertOp>(op->getLoc(), type, value);
  rewriter.replaceOp(op, typed);
}

FailureOr<Value> alula::input::buildChloBinary(StringRef name, Value lhs,
                                               Value rhs, Operation *op,
                                               IRRewriter &rewriter) {
  ElementMath math(rewriter, op->getLoc(), lhs);
  Num a = math.of(lhs), b = math.of(rhs);
  if (name == "mulhi")
    return buildMulhi(a, b).value;
  if (name == "next_after") {
    if (!hasOrderedBits(a.element()))
      return stablehlo::opError(op)
             << "element type has no order of bits: " << a.element();
    return buildNextAfter(a, b).value;
  }
  Type element = a.element();
  Num result = name == "zeta" ? buildZeta(widen(a), widen(b))
                              : buildPolygamma(widen(a), widen(b));
  return convert(result, element).value;
}

Outcome alula::input::convertChloElementwise(Operation *op,
                                             IRRewriter &rewriter) {
  Location location = op->getLoc();
  if (auto constant = dyn_cast<chlo::ConstantOp>(op)) {
    rewriter.replaceOpWithNewOp<stablehlo::ConstantOp>(
        op, constant.getType(), constant.getValue());
    return success();
  }
  if (auto constant = dyn_cast<chlo::ConstantLikeOp>(op)) {
    ElementMath math(rewriter, location, constant.getOperand());
    Type element = cast<ShapedType>(constant.getType()).getElementType();
    TypedAttr scalar = constant.getValue();
    // A splat attribute must be able to hold the scalar.
    if (scalar.getType() != element ||
        !isa<IntegerAttr, FloatAttr>(scalar))
      return stablehlo::opError(op)
             << "value must be a number of the element type: " << scalar
             << " for " << element;
    replaceWithTyped(op, math.splat(element, scalar).value, rewriter);
    return success();
  }
  if (isa<chlo::MulhiOp, chlo::NextAfterOp, chlo::PolygammaOp, chlo::ZetaOp>(
          op)) {
    StringRef name = op->getName().stripDialect();
    auto value = buildChloBinary(name, op->getOperand(0), op->getOperand(1), op,
                                 rewriter);
    if (failed(value))
      return failure();
    replaceWithTyped(op, *value, rewriter);
    return success();
  }
  if (op->getNumOperands() != 1)
    return std::nullopt;

  ElementMath math(rewriter, location, op->getOperand(0));
  Num x = math.of(op->getOperand(0));
  bool isComplex = isa<ComplexType>(x.element());
  auto replace = [&](Num result) {
    Type element = getElementTypeOrSelf(op->getResult(0).getType());
    replaceWithTyped(op, convert(result, element).value, rewriter);
    return success();
  };
  if (isa<chlo::TanOp>(op)) {
    replaceWithTyped(op, tan(x).value, rewriter);
    return success();
  }
  if (isa<chlo::ConjOp>(op))
    return replace(isComplex ? complex(real(x), -imag(x)) : x);
  if (isa<chlo::IsInfOp>(op))
    return replace(abs(widen(x)) == INFINITY);
  if (isa<chlo::IsPosInfOp>(op))
    return replace(widen(x) == INFINITY);
  if (isa<chlo::IsNegInfOp>(op))
    return replace(widen(x) == -INFINITY);
  Functions functions = getFunctions(op);
  Function function = isComplex ? functions.onComplex : functions.onReal;
  if (!function)
    return std::nullopt;
  return replace(function(widen(x)));
}
