// Moves elements once instead of twice, or not at all.
//   transpose(transpose x), reshape(reshape x), broadcast(broadcast x),
//   slice(slice x), reverse(reverse x)      → one of them, or x
//   pad by nothing, concatenate one, slice all, transpose nothing → x
//   dynamic_slice at constants              → slice
//   slice of a concatenation                → of its pieces: piece_patterns
//   a transpose of dimensions of size 1     → reshape
// Static shapes only: what dynamic ones mean is said by their operands.

#include "compiler/optimize/passes.h"
#include "compiler/optimize/piece_patterns.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace alula::optimize {
#define GEN_PASS_DEF_SIMPLIFYMOVEMENT
#include "compiler/optimize/passes.h.inc"
} // namespace alula::optimize

using namespace mlir;
using namespace mlir::stablehlo;

namespace {
RankedTensorType getStaticType(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() ? type : RankedTensorType();
}

bool isStatic(Operation *op) {
  return llvm::all_of(op->getOperands(), getStaticType) &&
         llvm::all_of(op->getResults(), getStaticType);
}

template <typename Op> struct StaticPattern : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const final {
    return isStatic(op) ? simplify(op, rewriter) : failure();
  }
  virtual LogicalResult simplify(Op op, PatternRewriter &rewriter) const = 0;
};

struct SimplifyTranspose : StaticPattern<TransposeOp> {
  using StaticPattern::StaticPattern;
  LogicalResult simplify(TransposeOp op,
                         PatternRewriter &rewriter) const override {
    ArrayRef<int64_t> permutation = op.getPermutation();
    if (llvm::is_sorted(permutation)) {
      rewriter.replaceOp(op, op.getOperand());
      return success();
    }
    if (auto inner = op.getOperand().getDefiningOp<TransposeOp>()) {
      SmallVector<int64_t> both;
      for (int64_t dim : permutation)
        both.push_back(inner.getPermutation()[static_cast<size_t>(dim)]);
      rewriter.replaceOpWithNewOp<TransposeOp>(op, op.getType(),
                                               inner.getOperand(), both);
      return success();
    }
    // Dimensions of size 1 may stand anywhere.
    SmallVector<int64_t> large;
    auto type = cast<RankedTensorType>(op.getOperand().getType());
    for (int64_t dim : permutation)
      if (type.getDimSize(static_cast<unsigned>(dim)) != 1)
        large.push_back(dim);
    if (!llvm::is_sorted(large))
      return failure();
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), op.getOperand());
    return success();
  }
};

struct SimplifyReshape : StaticPattern<ReshapeOp> {
  using StaticPattern::StaticPattern;
  LogicalResult simplify(ReshapeOp op,
                         PatternRewriter &rewriter) const override {
    if (op.getOperand().getType() == op.getType()) {
      rewriter.replaceOp(op, op.getOperand());
      return success();
    }
    auto inner = op.getOperand().getDefiningOp<ReshapeOp>();
    if (!inner || !isStatic(inner))
      return failure();
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), inner.getOperand());
    return success();
  }
};

struct SimplifyBroadcast : StaticPattern<BroadcastInDimOp> {
  using StaticPattern::StaticPattern;
  LogicalResult simplify(BroadcastInDimOp op,
                         PatternRewriter &rewriter) const override {
    ArrayRef<int64_t> dims = op.getBroadcastDimensions();
    if (op.getOperand().getType() == op.getType() && llvm::is_sorted(dims)) {
      rewriter.replaceOp(op, op.getOperand());
      return success();
    }
    auto inner = op.getOperand().getDefiningOp<BroadcastInDimOp>();
    if (!inner || !isStatic(inner))
      return failure();
    SmallVector<int64_t> both;
    for (int64_t dim : inner.getBroadcastDimensions())
      both.push_back(dims[static_cast<size_t>(dim)]);
    rewriter.replaceOpWithNewOp<BroadcastInDimOp>(op, op.getType(),
                                                  inner.getOperand(), both);
    return success();
  }
};

struct SimplifyReverse : StaticPattern<ReverseOp> {
  using StaticPattern::StaticPattern;
  LogicalResult simplify(ReverseOp op,
                         PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getType());
    bool isNothing = llvm::all_of(op.getDimensions(), [&](int64_t dim) {
      return type.getDimSize(static_cast<unsigned>(dim)) <= 1;
    });
    if (isNothing) {
      rewriter.replaceOp(op, op.getOperand());
      return success();
    }
    auto inner = op.getOperand().getDefiningOp<ReverseOp>();
    if (!inner)
      return failure();
    SmallVector<int64_t> dims;
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (llvm::is_contained(op.getDimensions(), dim) !=
          llvm::is_contained(inner.getDimensions(), dim))
        dims.push_back(dim);
    if (dims.empty())
      rewriter.replaceOp(op, inner.getOperand());
    else
      rewriter.replaceOpWithNewOp<ReverseOp>(op, inner.getOperand(), dims);
    return success();
  }
};

struct SimplifySlice : StaticPattern<SliceOp> {
  using StaticPattern::StaticPattern;
  LogicalResult simplify(SliceOp op, PatternRewriter &rewriter) const override {
    // The same type means every element: slices do not repeat any.
    if (op.getOperand().getType() == op.getType()) {
      rewriter.replaceOp(op, op.getOperand());
      return success();
    }
    auto inner = op.getOperand().getDefiningOp<SliceOp>();
    auto type = cast<RankedTensorType>(op.getType());
    if (!inner || type.getNumElements() == 0)
      return failure();
    SmallVector<int64_t> starts, limits, strides;
    for (size_t dim = 0; dim < static_cast<size_t>(type.getRank()); ++dim) {
      starts.push_back(inner.getStartIndices()[dim] +
                       op.getStartIndices()[dim] * inner.getStrides()[dim]);
      strides.push_back(op.getStrides()[dim] * inner.getStrides()[dim]);
      limits.push_back(starts[dim] +
                       (type.getShape()[dim] - 1) * strides[dim] + 1);
    }
    rewriter.replaceOpWithNewOp<SliceOp>(op, op.getType(), inner.getOperand(),
                                         starts, limits, strides);
    return success();
  }
};

/// The number that a scalar is, as a start index between 0 and `limit`.
std::optional<int64_t> getStart(Value scalar, int64_t limit) {
  DenseElementsAttr value;
  auto type = dyn_cast<IntegerType>(getElementTypeOrSelf(scalar.getType()));
  if (!type || !matchPattern(scalar, m_Constant(&value)))
    return std::nullopt;
  APInt number = value.getSplatValue<APInt>();
  if (type.isUnsigned())
    return static_cast<int64_t>(
        number.getLimitedValue(static_cast<uint64_t>(limit)));
  return std::clamp<int64_t>(number.getSExtValue(), 0, limit);
}

struct SimplifyDynamicSlice : StaticPattern<DynamicSliceOp> {
  using StaticPattern::StaticPattern;
  LogicalResult simplify(DynamicSliceOp op,
                         PatternRewriter &rewriter) const override {
    auto from = cast<RankedTensorType>(op.getOperand().getType());
    SmallVector<int64_t> starts, limits;
    for (auto [dim, index] : llvm::enumerate(op.getStartIndices())) {
      int64_t size = op.getSliceSizes()[dim];
      int64_t limit = from.getShape()[dim] - size;
      std::optional<int64_t> start = limit == 0 ? 0 : getStart(index, limit);
      if (!start)
        return failure();
      starts.push_back(*start);
      limits.push_back(*start + size);
    }
    SmallVector<int64_t> strides(starts.size(), 1);
    rewriter.replaceOpWithNewOp<SliceOp>(op, op.getType(), op.getOperand(),
                                         starts, limits, strides);
    return success();
  }
};

struct SimplifyDynamicUpdateSlice : StaticPattern<DynamicUpdateSliceOp> {
  using StaticPattern::StaticPattern;
  LogicalResult simplify(DynamicUpdateSliceOp op,
                         PatternRewriter &rewriter) const override {
    auto update = cast<RankedTensorType>(op.getUpdate().getType());
    Value result;
    if (update == op.getType())
      result = op.getUpdate();
    else if (update.getNumElements() == 0)
      result = op.getOperand();
    else
      return failure();
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct SimplifyPad : StaticPattern<PadOp> {
  using StaticPattern::StaticPattern;
  LogicalResult simplify(PadOp op, PatternRewriter &rewriter) const override {
    auto isZero = [](int64_t number) { return number == 0; };
    if (!llvm::all_of(op.getEdgePaddingLow(), isZero) ||
        op.getOperand().getType() != op.getType() ||
        !llvm::all_of(op.getEdgePaddingHigh(), isZero))
      return failure();
    rewriter.replaceOp(op, op.getOperand());
    return success();
  }
};

struct SimplifyConcatenate : StaticPattern<ConcatenateOp> {
  using StaticPattern::StaticPattern;
  LogicalResult simplify(ConcatenateOp op,
                         PatternRewriter &rewriter) const override {
    auto dim = static_cast<unsigned>(op.getDimension());
    SmallVector<Value> parts = llvm::to_vector(
        llvm::make_filter_range(op.getInputs(), [&](Value input) {
          return cast<RankedTensorType>(input.getType()).getDimSize(dim) != 0;
        }));
    if (parts.size() == 1) {
      rewriter.replaceOp(op, parts[0]);
      return success();
    }
    if (parts.empty() || parts.size() == op.getInputs().size())
      return failure();
    rewriter.modifyOpInPlace(op, [&] { op->setOperands(parts); });
    return success();
  }
};

/// To a wider float and back.
struct SimplifyConvert : StaticPattern<ConvertOp> {
  using StaticPattern::StaticPattern;
  LogicalResult simplify(ConvertOp op,
                         PatternRewriter &rewriter) const override {
    auto inner = op.getOperand().getDefiningOp<ConvertOp>();
    if (!inner || inner.getOperand().getType() != op.getType())
      return failure();
    Type narrow = getElementTypeOrSelf(op.getType());
    Type wide = getElementTypeOrSelf(inner.getType());
    auto holds = [&] {
      if (narrow.isF32())
        return wide.isF64();
      if (narrow.isF16() || narrow.isBF16())
        return wide.isF32() || wide.isF64();
      // Of one sign, so that no value is another on the way.
      auto from = dyn_cast<IntegerType>(narrow), to = dyn_cast<IntegerType>(wide);
      return from && to && from.getWidth() > 1 &&
             from.getWidth() < to.getWidth() &&
             from.getSignedness() == to.getSignedness();
    };
    if (!holds())
      return failure();
    rewriter.replaceOp(op, inner.getOperand());
    return success();
  }
};

struct SimplifyMovement
    : public alula::optimize::impl::SimplifyMovementBase<SimplifyMovement> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<SimplifyTranspose, SimplifyReshape, SimplifyBroadcast,
                 SimplifyReverse, SimplifySlice, SimplifyDynamicSlice,
                 SimplifyDynamicUpdateSlice, SimplifyPad, SimplifyConcatenate,
                 SimplifyConvert>(&getContext());
    alula::optimize::addPiecePatterns(patterns);
    GreedyRewriteConfig config;
    config.enableRegionSimplification = GreedySimplifyRegionLevel::Disabled;
    if (failed(applyPatternsAndFoldGreedily(getOperation(), std::move(patterns),
                                            config)))
      signalPassFailure();
  }
};
} // namespace
