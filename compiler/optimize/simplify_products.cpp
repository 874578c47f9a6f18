// Products with one term for each element are multiplications.
//   dot_general %x, %y, contracting_dims = [] x [] :
//       (tensor<8xf32>, tensor<3xf32>) -> tensor<8x3xf32>
//   →  multiply (broadcast_in_dim %x, dims = [0]), (broadcast_in_dim %y, dims =
//   [1])
// Elementwise ops fuse with their neighbours.

#include "compiler/optimize/passes.h"
#include "dialect/stablehlo/access.h"
#include "dialect/stablehlo/build.h"
#include "dialect/stablehlo/ops.h"
#include "dialect/stablehlo/product_dims.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace alula::optimize {
#define GEN_PASS_DEF_SIMPLIFYPRODUCTS
#include "compiler/optimize/passes.h.inc"
} // namespace alula::optimize

using namespace mlir;

namespace {
/// A factor as a tensor of the product's shape and type.
class Spreader {
public:
  Spreader(stablehlo::DotGeneralOp dot, PatternRewriter &rewriter)
      : dot(dot), rewriter(rewriter),
        result(cast<RankedTensorType>(dot.getType())) {}

  Value spread(bool isLhs) {
    Value factor = isLhs ? dot.getLhs() : dot.getRhs();
    auto type = cast<RankedTensorType>(factor.getType());
    // From a dimension of the factor to that of the result; others are of one
    // element.
    SmallVector<std::pair<int64_t, int64_t>> places;
    for (auto [at, dim] : llvm::enumerate(stablehlo::getProductDims(dot)))
      if (int64_t from = isLhs ? dim.lhs : dim.rhs; from >= 0)
        places.emplace_back(from, static_cast<int64_t>(at));
    llvm::sort(places);
    SmallVector<int64_t> sizes, to;
    for (auto [from, at] : places) {
      sizes.push_back(type.getDimSize(static_cast<unsigned>(from)));
      to.push_back(at);
    }
    Location location = dot.getLoc();
    if (sizes != type.getShape())
      factor = rewriter.create<stablehlo::ReshapeOp>(location,
                                                     type.clone(sizes), factor);
    factor = sort(factor, to);
    if (type.getElementType() != result.getElementType())
      factor = rewriter.create<stablehlo::ConvertOp>(
          location,
          cast<RankedTensorType>(factor.getType())
              .clone(result.getElementType()),
          factor);
    llvm::sort(to);
    if (factor.getType() == result)
      return factor;
    return rewriter.create<stablehlo::BroadcastInDimOp>(
        location, result, factor, rewriter.getDenseI64ArrayAttr(to));
  }

private:
  /// Dimensions in the order of the result's.
  Value sort(Value factor, ArrayRef<int64_t> to) {
    auto permutation =
        llvm::to_vector(llvm::seq<int64_t>(0, static_cast<int64_t>(to.size())));
    llvm::sort(permutation, [&](int64_t a, int64_t b) {
      return to[static_cast<size_t>(a)] < to[static_cast<size_t>(b)];
    });
    return stablehlo::buildTranspose(rewriter, dot.getLoc(), factor,
                                     permutation);
  }

  stablehlo::DotGeneralOp dot;
  PatternRewriter &rewriter;
  RankedTensorType result;
};

/// Numbers that become exactly those of the product's type.
bool mayBecome(Value factor, Type element) {
  Type from = getElementTypeOrSelf(factor.getType());
  if (from == element)
    return true;
  if (isa<IntegerType>(from))
    return isa<IntegerType>(element) && !from.isInteger(1) &&
           !element.isInteger(1);
  return isa<FloatType>(from) && isa<FloatType>(element) &&
         from.getIntOrFloatBitWidth() < element.getIntOrFloatBitWidth();
}

struct MultiplyForOneTerm : OpRewritePattern<stablehlo::DotGeneralOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::DotGeneralOp dot,
                                PatternRewriter &rewriter) const override {
    auto hasKnownSizes = [](Value tensor) {
      auto type = dyn_cast<RankedTensorType>(tensor.getType());
      return type && type.hasStaticShape() &&
             (type.getElementType().isIntOrFloat() ||
              isa<ComplexType>(type.getElementType()));
    };
    Type element = getElementTypeOrSelf(dot.getType());
    if (!hasKnownSizes(dot.getLhs()) || !hasKnownSizes(dot.getRhs()) ||
        !hasKnownSizes(dot.getResult()) || stablehlo::countTerms(dot) != 1 ||
        !mayBecome(dot.getLhs(), element) || !mayBecome(dot.getRhs(), element))
      return failure();
    Spreader spreader(dot, rewriter);
    Value left = spreader.spread(/*isLhs=*/true);
    Value right = spreader.spread(/*isLhs=*/false);
    rewriter.replaceOpWithNewOp<stablehlo::MulOp>(dot, dot.getType(), left,
                                                  right);
    return success();
  }
};

struct SimplifyProducts
    : public alula::optimize::impl::SimplifyProductsBase<SimplifyProducts> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<MultiplyForOneTerm>(&getContext());
    GreedyRewriteConfig config;
    config.enableRegionSimplification = GreedySimplifyRegionLevel::Disabled;
    if (failed(applyPatternsAndFoldGreedily(getOperation(), std::move(patterns),
                                            config)))
      signalPassFailure();
  }
};
} // namespace
