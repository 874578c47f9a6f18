// Drops arithmetic that changes nothing, bit by bit.
//   x * 1, x / 1, x - 0, x + -0.0, x & -1, negate(negate x), maximum(x, x) → x
//   x / 4.0 → x * 0.25
//   reduce(x: tensor<8x1xf32> init: 0.0) across dimensions = [1] → 0.0 + x

#include "compiler/optimize/passes.h"
#include "dialect/stablehlo/element_rules.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace alula::optimize {
#define GEN_PASS_DEF_SIMPLIFYARITHMETIC
#include "compiler/optimize/passes.h.inc"
} // namespace alula::optimize

using namespace mlir;

namespace {
/// The one number that all elements are, if it is one of these types.
std::optional<APFloat> getFloat(Value value) {
  DenseElementsAttr dense;
  if (!matchPattern(value, m_Constant(&dense)) || !dense.isSplat() ||
      !isa<FloatType>(dense.getElementType()))
    return std::nullopt;
  return dense.getSplatValue<APFloat>();
}
std::optional<APInt> getInteger(Value value) {
  DenseElementsAttr dense;
  if (!matchPattern(value, m_Constant(&dense)) || !dense.isSplat() ||
      !isa<IntegerType>(dense.getElementType()))
    return std::nullopt;
  return dense.getSplatValue<APInt>();
}

bool isFloatOne(Value value) {
  auto number = getFloat(value);
  return number && number->isExactlyValue(1.0);
}
bool isFloatZero(Value value, bool isNegative) {
  auto number = getFloat(value);
  return number && number->isZero() && number->isNegative() == isNegative;
}
bool isIntegerOne(Value value) {
  auto number = getInteger(value);
  return number && number->isOne();
}
bool isIntegerZero(Value value) {
  auto number = getInteger(value);
  return number && number->isZero();
}
bool isAllOnes(Value value) {
  auto number = getInteger(value);
  return number && number->isAllOnes();
}

/// Whether `right` leaves the other operand of `op` as it is.
bool isNeutral(Operation *op, Value right) {
  if (isa<stablehlo::AddOp>(op))
    return isIntegerZero(right) || isFloatZero(right, /*isNegative=*/true);
  if (isa<stablehlo::SubtractOp>(op))
    return isIntegerZero(right) || isFloatZero(right, /*isNegative=*/false);
  if (isa<stablehlo::MulOp, stablehlo::DivOp>(op))
    return isIntegerOne(right) || isFloatOne(right);
  if (isa<stablehlo::AndOp>(op))
    return isAllOnes(right);
  return isa<stablehlo::OrOp, stablehlo::XorOp, stablehlo::ShiftLeftOp,
             stablehlo::ShiftRightLogicalOp,
             stablehlo::ShiftRightArithmeticOp>(op) &&
         isIntegerZero(right);
}

bool isSymmetric(Operation *op) {
  return isa<stablehlo::AddOp, stablehlo::MulOp, stablehlo::AndOp,
             stablehlo::OrOp, stablehlo::XorOp>(op);
}

/// Dynamic shapes may differ where types do not say so.
bool hasSameType(Value a, Value b) {
  auto type = dyn_cast<RankedTensorType>(a.getType());
  return type && type.hasStaticShape() && a.getType() == b.getType();
}

struct DropNeutral : RewritePattern {
  explicit DropNeutral(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (op->getNumOperands() != 2 || op->getNumResults() != 1)
      return failure();
    for (auto [kept, other] : {std::pair(0, 1), std::pair(1, 0)}) {
      if (kept == 1 && !isSymmetric(op))
        break;
      Value value = op->getOperand(static_cast<unsigned>(kept));
      if (isNeutral(op, op->getOperand(static_cast<unsigned>(other))) &&
          hasSameType(value, op->getResult(0))) {
        rewriter.replaceOp(op, value);
        return success();
      }
    }
    return failure();
  }
};

/// x op x = x.
template <typename Op> struct DropTwin : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    if (op.getLhs() != op.getRhs() || !hasSameType(op.getLhs(), op.getResult()))
      return failure();
    rewriter.replaceOp(op, op.getLhs());
    return success();
  }
};

/// f(f(x)) = x.
template <typename Op> struct DropPair : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    auto inner = op.getOperand().template getDefiningOp<Op>();
    if (!inner || !hasSameType(inner.getOperand(), op.getResult()))
      return failure();
    rewriter.replaceOp(op, inner.getOperand());
    return success();
  }
};

/// Dividing by a power of two is multiplying by its inverse, if that is a normal
/// number.
struct MultiplyByInverse : OpRewritePattern<stablehlo::DivOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::DivOp op,
                                PatternRewriter &rewriter) const override {
    auto number = getFloat(op.getRhs());
    if (!number)
      return failure();
    APFloat inverse(number->getSemantics());
    if (!number->getExactInverse(&inverse) || inverse.isDenormal())
      return failure();
    auto type = cast<ShapedType>(op.getRhs().getType());
    Value factor = rewriter.create<stablehlo::ConstantOp>(
        op.getLoc(), DenseElementsAttr::get(type, inverse));
    rewriter.replaceOpWithNewOp<stablehlo::MulOp>(op, op.getType(), op.getLhs(),
                                                  factor);
    return success();
  }
};

struct ChooseKnown : OpRewritePattern<stablehlo::SelectOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::SelectOp op,
                                PatternRewriter &rewriter) const override {
    Value chosen;
    if (op.getOnTrue() == op.getOnFalse())
      chosen = op.getOnTrue();
    else if (auto known = getInteger(op.getPred()))
      chosen = known->isOne() ? op.getOnTrue() : op.getOnFalse();
    if (!chosen || !hasSameType(chosen, op.getResult()))
      return failure();
    rewriter.replaceOp(op, chosen);
    return success();
  }
};

/// x^1 and x^2 need no logarithm.
struct MultiplyForPower : OpRewritePattern<stablehlo::PowOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::PowOp op,
                                PatternRewriter &rewriter) const override {
    auto power = getFloat(op.getRhs());
    if (!power || !hasSameType(op.getLhs(), op.getResult()))
      return failure();
    if (power->isExactlyValue(1.0))
      rewriter.replaceOp(op, op.getLhs());
    else if (power->isExactlyValue(2.0))
      rewriter.replaceOpWithNewOp<stablehlo::MulOp>(op, op.getType(),
                                                    op.getLhs(), op.getLhs());
    else
      return failure();
    return success();
  }
};

/// With one term for each element it is elementwise.
struct ReduceOne : OpRewritePattern<stablehlo::ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::ReduceOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getInputs().size() != 1)
      return failure();
    Value input = op.getInputs()[0], init = op.getInitValues()[0];
    Block &body = op.getBody().front();
    auto from = dyn_cast<RankedTensorType>(input.getType());
    auto to = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    Operation *step = stablehlo::findOnlyOp(body);
    if (!step || !stablehlo::isElementwise(step) || !from || !to ||
        !from.hasStaticShape() || !to.hasStaticShape() ||
        from.getElementType() != to.getElementType() ||
        getElementTypeOrSelf(step->getResult(0)) != to.getElementType() ||
        llvm::any_of(op.getDimensions(), [&](int64_t dim) {
          return from.getDimSize(static_cast<unsigned>(dim)) != 1;
        }))
      return failure();
    IRMapping mapping;
    mapping.map(body.getArgument(0), spread(init, to, op.getLoc(), rewriter));
    mapping.map(body.getArgument(1),
                rewriter.create<stablehlo::ReshapeOp>(op.getLoc(), to, input));
    Operation *made = rewriter.clone(*step, mapping);
    made->getResult(0).setType(to);
    rewriter.replaceOp(op, made);
    return success();
  }

private:
  static Value spread(Value scalar, RankedTensorType type, Location location,
                      PatternRewriter &rewriter) {
    DenseElementsAttr number;
    if (matchPattern(scalar, m_Constant(&number)))
      return rewriter.create<stablehlo::ConstantOp>(location,
                                                    number.resizeSplat(type));
    return rewriter.create<stablehlo::BroadcastInDimOp>(
        location, type, scalar, rewriter.getDenseI64ArrayAttr({}));
  }
};

struct SimplifyArithmetic
    : public alula::optimize::impl::SimplifyArithmeticBase<SimplifyArithmetic> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<DropNeutral, DropTwin<stablehlo::MaxOp>,
                 DropTwin<stablehlo::MinOp>, DropTwin<stablehlo::AndOp>,
                 DropTwin<stablehlo::OrOp>, DropPair<stablehlo::NegOp>,
                 DropPair<stablehlo::NotOp>, MultiplyByInverse, ChooseKnown,
                 MultiplyForPower, ReduceOne>(&getContext());
    GreedyRewriteConfig config;
    config.enableRegionSimplification = GreedySimplifyRegionLevel::Disabled;
    if (failed(applyPatternsAndFoldGreedily(getOperation(), std::move(patterns),
                                            config)))
      signalPassFailure();
  }
};
} // namespace
