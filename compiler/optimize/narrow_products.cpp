// Products and convolutions read bytes where what they multiply comes from
// bytes.
//   %a = convert %x : i8 → i32;  %b = transpose (convert %y : ui8 → i32)
//   dot_general %a, %b : i32  →  dot_general %x, (transpose %y) : i8 × ui8 →
//   i32
// Sums are modulo 2^32, whatever the elements were widened to before.

#include "compiler/optimize/passes.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace alula::optimize {
#define GEN_PASS_DEF_NARROWPRODUCTS
#include "compiler/optimize/passes.h.inc"
} // namespace alula::optimize

using namespace mlir;

namespace {
/// Of a real integer; null for others and for booleans.
IntegerType getInteger(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  auto element =
      type ? dyn_cast<IntegerType>(type.getElementType()) : IntegerType();
  return element && element.getWidth() > 1 ? element : IntegerType();
}

/// Whether each number of one type is one of the other.
bool isWidening(IntegerType from, IntegerType to) {
  if (from.isUnsigned() == to.isUnsigned())
    return from.getWidth() <= to.getWidth();
  return from.isUnsigned() && from.getWidth() < to.getWidth();
}

/// The same numbers as bytes, before they were widened and perhaps moved.
struct Bytes {
  Value source;
  /// From what is multiplied towards the source.
  SmallVector<Operation *> moves;
};

/// Nothing if they are not made of so few bits.
std::optional<Bytes> findBytes(Value operand) {
  IntegerType wide = getInteger(operand);
  if (wide.getWidth() == 8)
    return Bytes{operand, {}};
  Bytes bytes{operand, {}};
  while (Operation *op = bytes.source.getDefiningOp()) {
    if (!isa<stablehlo::TransposeOp, stablehlo::ReshapeOp>(op))
      break;
    bytes.moves.push_back(op);
    bytes.source = op->getOperand(0);
  }
  auto convert = bytes.source.getDefiningOp<stablehlo::ConvertOp>();
  IntegerType narrow =
      convert ? getInteger(convert.getOperand()) : IntegerType();
  if (!narrow || narrow.getWidth() > 8 || !isWidening(narrow, wide))
    return std::nullopt;
  bytes.source = convert.getOperand();
  return bytes;
}

Value buildBytes(const Bytes &bytes, Location location,
                 PatternRewriter &rewriter) {
  Value value = bytes.source;
  auto type = cast<RankedTensorType>(value.getType());
  auto narrow = cast<IntegerType>(type.getElementType());
  if (narrow.getWidth() < 8)
    value = rewriter.create<stablehlo::ConvertOp>(
        location,
        type.clone(
            IntegerType::get(rewriter.getContext(), 8, narrow.getSignedness())),
        value);
  for (Operation *move : llvm::reverse(bytes.moves)) {
    Operation *moved = rewriter.clone(*move);
    moved->setOperand(0, value);
    moved->getResult(0).setType(
        cast<RankedTensorType>(move->getResult(0).getType())
            .clone(getElementTypeOrSelf(value.getType())));
    value = moved->getResult(0);
  }
  return value;
}

template <typename Op> struct MultiplyBytes : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    IntegerType left = getInteger(op.getLhs()), right = getInteger(op.getRhs());
    IntegerType result = getInteger(op.getResult());
    if (!left || !right || !result || result.getWidth() > 32 ||
        (left.getWidth() <= 8 && right.getWidth() <= 8))
      return rewriter.notifyMatchFailure(op, "no wide integers");
    // Sums of fewer bits than the elements, which nobody writes.
    if (std::max(left.getWidth(), right.getWidth()) > result.getWidth())
      return rewriter.notifyMatchFailure(op, "elements wider than the sums");
    std::optional<Bytes> a = findBytes(op.getLhs()), b = findBytes(op.getRhs());
    if (!a || !b)
      return rewriter.notifyMatchFailure(op, "not made of bytes");
    // The specification wants both sides of a convolution alike.
    if (isa<stablehlo::ConvolutionOp>(op) &&
        getInteger(a->source).isUnsigned() !=
            getInteger(b->source).isUnsigned())
      return rewriter.notifyMatchFailure(op, "bytes of two kinds");
    Value lhs = buildBytes(*a, op.getLoc(), rewriter);
    Value rhs = buildBytes(*b, op.getLoc(), rewriter);
    rewriter.modifyOpInPlace(op, [&] {
      op.getLhsMutable().assign(lhs);
      op.getRhsMutable().assign(rhs);
    });
    return success();
  }
};

struct NarrowProducts
    : public alula::optimize::impl::NarrowProductsBase<NarrowProducts> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<MultiplyBytes<stablehlo::DotGeneralOp>,
                 MultiplyBytes<stablehlo::ConvolutionOp>>(&getContext());
    GreedyRewriteConfig config;
    config.enableRegionSimplification = GreedySimplifyRegionLevel::Disabled;
    if (failed(applyPatternsAndFoldGreedily(getOperation(), std::move(patterns),
                                            config)))
      signalPassFailure();
  }
};
} // namespace
