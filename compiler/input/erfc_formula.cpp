// With a = |x| and s = x x:
//   select (a < 1), 1 - x P(s), select (x < 0), 2 - y, y
//   y = select (-s < -88.7…), 0, (e^-s (1 / a)) Q
//   Q = select (a < 2), Q1(1 / s), Q2(1 / s)
// The same value may be computed several times.

#include "compiler/input/erfc_formula.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/OperationSupport.h"

using namespace mlir;
using namespace alula::input;

namespace {
// Highest powers first, as the formulas have them.
constexpr float nearZero[] = {7.853861353693153e-5f, -8.010193625184903e-4f,
                              5.188327685732524e-3f, -2.685381193529856e-2f,
                              1.128358514861418e-1f, -3.761262582423300e-1f,
                              1.128379165726710f};

constexpr float toTwo[] = {
    2.326819970068386e-2f,  -1.387039388740657e-1f, 3.687424674597105e-1f,
    -5.824733027278666e-1f, 6.210004621745983e-1f,  -4.944515323274145e-1f,
    3.404879937665872e-1f,  -2.741127028184656e-1f, 5.638259427386472e-1f};

constexpr float fromTwo[] = {-1.047766399936249e1f,  1.297719955372516e1f,
                             -7.495518717768503f,    2.921019019210786f,
                             -1.015265279202700f,    4.218463358204948e-1f,
                             -2.820767439740514e-1f, 5.641895067754075e-1f};

/// Where e^x is no normal number any more.
constexpr float leastPower = -88.7228394f;

/// Whether both are one value, or the same operations of the same values.
bool isSame(Value a, Value b, unsigned depth = 3) {
  if (a == b)
    return true;
  Operation *first = a.getDefiningOp(), *second = b.getDefiningOp();
  if (!depth || !first || !second || first->getNumResults() != 1 ||
      !isMemoryEffectFree(first) || first->getNumRegions() ||
      !OperationEquivalence::isEquivalentTo(
          first, second, OperationEquivalence::ignoreValueEquivalence,
          /*markEquivalent=*/nullptr, OperationEquivalence::IgnoreLocations))
    return false;
  return llvm::all_of(
      llvm::zip_equal(first->getOperands(), second->getOperands()),
      [&](auto operands) {
        auto [x, y] = operands;
        return isSame(x, y, depth - 1);
      });
}

bool isNumber(Value value, float number) {
  // Where sizes are not known, numbers are broadcast.
  if (Operation *op = value.getDefiningOp();
      isa_and_nonnull<stablehlo::BroadcastInDimOp,
                      stablehlo::DynamicBroadcastInDimOp>(op))
    value = op->getOperand(0);
  DenseElementsAttr splat;
  return matchPattern(value, m_Constant(&splat)) && splat.isSplat() &&
         splat.getElementType().isF32() &&
         splat.getSplatValue<APFloat>().bitwiseIsEqual(APFloat(number));
}

/// The other operand of a commutative operation.
template <typename Op> Value otherOperand(Value value, Value operand) {
  auto op = value.getDefiningOp<Op>();
  if (!op)
    return {};
  return isSame(op.getLhs(), operand)   ? op.getRhs()
         : isSame(op.getRhs(), operand) ? op.getLhs()
                                        : Value();
}

bool isLess(Value value, Value than, float number) {
  auto compare = value.getDefiningOp<stablehlo::CompareOp>();
  return compare &&
         compare.getComparisonDirection() ==
             stablehlo::ComparisonDirection::LT &&
         isSame(compare.getLhs(), than) && isNumber(compare.getRhs(), number);
}

/// A constant minus something, or divided by it.
template <typename Op> Value operandAfter(Value value, float number) {
  auto op = value.getDefiningOp<Op>();
  return op && isNumber(op.getLhs(), number) ? op.getRhs() : Value();
}

/// 1 / x
bool isQuotient(Value value, Value x) {
  Value divisor = operandAfter<stablehlo::DivOp>(value, 1);
  return divisor && isSame(divisor, x);
}

bool isPolynomial(Value value, Value x, ArrayRef<float> coefficients) {
  for (float coefficient : llvm::reverse(coefficients.drop_front())) {
    auto sum = value.getDefiningOp<stablehlo::AddOp>();
    if (!sum || !isNumber(sum.getRhs(), coefficient))
      return false;
    value = otherOperand<stablehlo::MulOp>(sum.getLhs(), x);
    if (!value)
      return false;
  }
  return isNumber(value, coefficients.front());
}

/// The formula for sizes from 1.
bool isFar(Value y, Value size, Value square) {
  auto cut = y.getDefiningOp<stablehlo::SelectOp>();
  if (!cut || !isNumber(cut.getOnTrue(), 0))
    return false;
  auto product = cut.getOnFalse().getDefiningOp<stablehlo::MulOp>();
  if (!product)
    return false;
  auto head = product.getLhs().getDefiningOp<stablehlo::MulOp>();
  auto choice = product.getRhs().getDefiningOp<stablehlo::SelectOp>();
  auto power = head ? head.getLhs().getDefiningOp<stablehlo::ExpOp>() : nullptr;
  if (!power || !choice)
    return false;
  auto exponent = power.getOperand().getDefiningOp<stablehlo::NegOp>();
  if (!exponent || !isSame(exponent.getOperand(), square) ||
      !isLess(cut.getPred(), exponent, leastPower) ||
      !isQuotient(head.getRhs(), size) || !isLess(choice.getPred(), size, 2))
    return false;
  // Of both polynomials, by its last product.
  auto last = choice.getOnTrue().getDefiningOp<stablehlo::AddOp>();
  auto lastProduct =
      last ? last.getLhs().getDefiningOp<stablehlo::MulOp>() : nullptr;
  if (!lastProduct)
    return false;
  return llvm::any_of(lastProduct->getOperands(), [&](Value inverse) {
    return isQuotient(inverse, square) &&
           isPolynomial(choice.getOnTrue(), inverse, toTwo) &&
           isPolynomial(choice.getOnFalse(), inverse, fromTwo);
  });
}
} // namespace

Value alula::input::findErfcArgument(stablehlo::SelectOp root) {
  auto isNear = root.getPred().getDefiningOp<stablehlo::CompareOp>();
  auto size =
      isNear ? isNear.getLhs().getDefiningOp<stablehlo::AbsOp>() : nullptr;
  if (!size || !isLess(isNear, size, 1))
    return {};
  Value x = size.getOperand();
  Value oddPart = operandAfter<stablehlo::SubtractOp>(root.getOnTrue(), 1);
  Value polynomial = oddPart ? otherOperand<stablehlo::MulOp>(oddPart, x) : x;
  auto last =
      polynomial ? polynomial.getDefiningOp<stablehlo::AddOp>() : nullptr;
  auto lastProduct =
      last ? last.getLhs().getDefiningOp<stablehlo::MulOp>() : nullptr;
  auto folded = root.getOnFalse().getDefiningOp<stablehlo::SelectOp>();
  if (!lastProduct || !folded || !isLess(folded.getPred(), x, 0))
    return {};
  Value y = folded.getOnFalse();
  Value turned = operandAfter<stablehlo::SubtractOp>(folded.getOnTrue(), 2);
  if (!turned || !isSame(turned, y))
    return {};
  for (Value square : lastProduct->getOperands())
    if (otherOperand<stablehlo::MulOp>(square, x) == x &&
        isPolynomial(polynomial, square, nearZero) && isFar(y, size, square))
      return x;
  return {};
}
