// Convolutions in simpler words.
//   convolution %x, (reverse %w), window = {}
//   →  convolution %x, %w, window = {reverse = true}
// where places of the window are reversed: gradients by inputs need no turned
// copy of the weights.
//   convolution(%x, %w), features last, a window of one element
//   →  dot_general %x, (reshape %w)

#include "compiler/optimize/passes.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace alula::optimize {
#define GEN_PASS_DEF_SIMPLIFYCONVOLUTIONS
#include "compiler/optimize/passes.h.inc"
} // namespace alula::optimize

using namespace mlir;

namespace {
struct ReverseWindow : OpRewritePattern<stablehlo::ConvolutionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::ConvolutionOp convolution,
                                PatternRewriter &rewriter) const override {
    auto reverse = convolution.getRhs().getDefiningOp<stablehlo::ReverseOp>();
    if (!reverse)
      return failure();
    ArrayRef<int64_t> spatial =
        convolution.getDimensionNumbers().getKernelSpatialDimensions();
    SmallVector<bool> reversal(spatial.size());
    if (auto given = convolution.getWindowReversal(); given && !given->empty())
      reversal.assign(given->begin(), given->end());
    for (int64_t dim : reverse.getDimensions()) {
      const auto *found = llvm::find(spatial, dim);
      if (found == spatial.end())
        return rewriter.notifyMatchFailure(
            convolution, "a dimension of features is reversed");
      bool &isReversed = reversal[static_cast<size_t>(found - spatial.begin())];
      isReversed = !isReversed;
    }
    rewriter.modifyOpInPlace(convolution, [&] {
      convolution.getRhsMutable().assign(reverse.getOperand());
      convolution.setWindowReversal(reversal);
    });
    return success();
  }
};

/// Whether each element of the result is a sum over the features of one place.
bool isProduct(stablehlo::ConvolutionOp convolution) {
  auto numbers = convolution.getDimensionNumbers();
  auto kernel = cast<RankedTensorType>(convolution.getRhs().getType());
  if (!kernel.hasStaticShape() || convolution.getFeatureGroupCount() != 1 ||
      convolution.getBatchGroupCount() != 1)
    return false;
  auto areAll = [](auto values, int64_t wanted) {
    return !values || llvm::all_of(*values, [&](int64_t value) {
      return value == wanted;
    });
  };
  if (!areAll(convolution.getWindowStrides(), 1) ||
      !areAll(convolution.getLhsDilation(), 1) ||
      (convolution.getPadding() &&
       llvm::any_of(convolution.getPadding()->getValues<int64_t>(),
                    [](int64_t value) { return value != 0; })))
    return false;
  for (int64_t dim : numbers.getKernelSpatialDimensions())
    if (kernel.getDimSize(static_cast<unsigned>(dim)) != 1)
      return false;
  // Places and batches are in one order, features behind them.
  int64_t last = kernel.getRank() - 1;
  return numbers.getInputFeatureDimension() == last &&
         numbers.getOutputFeatureDimension() == last &&
         numbers.getInputBatchDimension() ==
             numbers.getOutputBatchDimension() &&
         numbers.getInputSpatialDimensions() ==
             numbers.getOutputSpatialDimensions();
}

struct MultiplyFeatures : OpRewritePattern<stablehlo::ConvolutionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::ConvolutionOp convolution,
                                PatternRewriter &rewriter) const override {
    if (!isProduct(convolution))
      return failure();
    auto numbers = convolution.getDimensionNumbers();
    int64_t input = numbers.getKernelInputFeatureDimension();
    int64_t output = numbers.getKernelOutputFeatureDimension();
    auto type = cast<RankedTensorType>(convolution.getRhs().getType());
    auto sizeOf = [&](int64_t dim) {
      return type.getDimSize(static_cast<unsigned>(dim));
    };
    bool isInputFirst = input < output;
    SmallVector<int64_t> sizes{sizeOf(input), sizeOf(output)};
    if (!isInputFirst)
      std::swap(sizes[0], sizes[1]);
    Value matrix = convolution.getRhs();
    if (type.getShape() != ArrayRef<int64_t>(sizes))
      matrix = rewriter.create<stablehlo::ReshapeOp>(convolution.getLoc(),
                                                     type.clone(sizes), matrix);
    auto dims = stablehlo::DotDimensionNumbersAttr::get(
        rewriter.getContext(), {}, {}, {type.getRank() - 1},
        {isInputFirst ? 0 : 1});
    auto dot = rewriter.create<stablehlo::DotGeneralOp>(
        convolution.getLoc(), convolution.getType(), convolution.getLhs(),
        matrix, dims, convolution.getPrecisionConfigAttr(),
        stablehlo::DotAlgorithmAttr());
    dot->setDiscardableAttrs(convolution->getDiscardableAttrDictionary());
    rewriter.replaceOp(convolution, dot);
    return success();
  }
};

struct SimplifyConvolutions
    : public alula::optimize::impl::SimplifyConvolutionsBase<
          SimplifyConvolutions> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ReverseWindow, MultiplyFeatures>(&getContext());
    GreedyRewriteConfig config;
    config.enableRegionSimplification = GreedySimplifyRegionLevel::Disabled;
    if (failed(applyPatternsAndFoldGreedily(getOperation(), std::move(patterns),
                                            config)))
      signalPassFailure();
  }
};
} // namespace
