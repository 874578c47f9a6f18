// Says batch normalization in arithmetic and sums.
//
// With the mean m and the variance v of each feature, r = 1 / sqrt(v + epsilon)
// and n elements for each feature:
//   inference  scale (x - m) r + offset
//   training   the same, with m = sum(x) / n and v = sum((x - m)^2) / n
//   grad       of offset: sum(g), of scale: sum(g (x - m)) r, of x:
//              scale r (g - (sum(g) + (x - m) r^2 sum(g (x - m))) / n)
// Types below f32 are computed in f32.

#include "compiler/input/element_math.h"

#include "dialect/stablehlo/build.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/TypeSwitch.h"

namespace alula::input {
#define GEN_PASS_DEF_INPUTLOWERBATCHNORM
#include "compiler/input/passes.h.inc"
} // namespace alula::input

using namespace mlir;
using namespace alula::input;

namespace {
class BatchNormLowering {
public:
  BatchNormLowering(Operation *op, IRRewriter &rewriter)
      : op(op), rewriter(rewriter),
        all(rewriter, op->getLoc(), op->getOperand(0)),
        features(rewriter, op->getLoc(), op->getOperand(1)),
        type(cast<RankedTensorType>(op->getOperand(0).getType())),
        feature(op->getAttrOfType<IntegerAttr>("feature_index").getInt()),
        epsilon(op->getAttrOfType<FloatAttr>("epsilon").getValueAsDouble()),
        computed(isa<FloatType>(type.getElementType()) &&
                         type.getElementTypeBitWidth() >= 32
                     ? type.getElementType()
                     : Type(rewriter.getF32Type())) {}

  void inference() {
    finish({normalize(centered(perFeature(3)), perFeature(4))});
  }

  void training() {
    Num n = count();
    Num mean = sum(perElement(0)) / n;
    Num rest = centered(mean);
    Num variance = sum(rest * rest) / n;
    finish({normalize(rest, variance), mean, variance});
  }

  void grad() {
    Num rest = centered(perFeature(2)), given = perElement(4);
    Num square = perFeature(3) + epsilon;
    Num root = sqrt(square);
    Num ofOffset = sum(given), together = sum(given * rest);
    Num n = count();
    Num slope = together / square / n;
    Num ofOperand = spread(perFeature(1) / root) *
                    (given - spread(ofOffset / n) - rest * spread(slope));
    finish({ofOperand, together / root, ofOffset});
  }

private:
  Num perElement(unsigned i) {
    return convert(all.of(op->getOperand(i)), computed);
  }
  Num perFeature(unsigned i) {
    return convert(features.of(op->getOperand(i)), computed);
  }

  Num centered(Num mean) { return perElement(0) - spread(mean); }

  Num normalize(Num rest, Num variance) {
    Num factor = perFeature(1) / sqrt(variance + epsilon);
    return rest * spread(factor) + spread(perFeature(2));
  }

  /// A number for each feature, as one for each element.
  Num spread(Num x) {
    Type result = all.shaped(computed);
    auto dims = rewriter.getDenseI64ArrayAttr({feature});
    if (type.hasStaticShape())
      return all.of(rewriter.create<stablehlo::BroadcastInDimOp>(
          op->getLoc(), result, x.value, dims));
    return all.of(rewriter.create<stablehlo::DynamicBroadcastInDimOp>(
        op->getLoc(), result, x.value, all.shapeValue(), dims));
  }

  /// The sum for each feature.
  Num sum(Num x) {
    SmallVector<int64_t> dims;
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (dim != feature)
        dims.push_back(dim);
    Location location = op->getLoc();
    return features.of(stablehlo::buildSum(rewriter, location, x.value, dims));
  }

  /// How many elements each feature has.
  Num count() {
    Location location = op->getLoc();
    double known = 1;
    Value size;
    auto scalar = RankedTensorType::get({}, computed);
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      if (dim == feature)
        continue;
      if (!type.isDynamicDim(static_cast<unsigned>(dim))) {
        known *=
            static_cast<double>(type.getDimSize(static_cast<unsigned>(dim)));
        continue;
      }
      Value more = rewriter.create<stablehlo::ConvertOp>(
          location, scalar,
          rewriter.create<stablehlo::GetDimensionSizeOp>(
              location, RankedTensorType::get({}, rewriter.getI32Type()),
              op->getOperand(0), dim));
      size =
          size ? rewriter.create<stablehlo::MulOp>(location, size, more) : more;
    }
    Num fixed = features.constant(computed, known);
    if (!size)
      return fixed;
    Type result = features.shaped(computed);
    auto dims = rewriter.getDenseI64ArrayAttr({});
    if (cast<ShapedType>(result).hasStaticShape())
      return fixed * features.of(rewriter.create<stablehlo::BroadcastInDimOp>(
                         location, result, size, dims));
    return fixed *
           features.of(rewriter.create<stablehlo::DynamicBroadcastInDimOp>(
               location, result, size, features.shapeValue(), dims));
  }

  void finish(ArrayRef<Num> numbers) {
    SmallVector<Value> results;
    for (auto [number, result] : llvm::zip_equal(numbers, op->getResults())) {
      Value value = convert(number, type.getElementType()).value;
      // What is known of a size may differ from one operand to the other.
      if (value.getType() != result.getType())
        value = rewriter.create<stablehlo::ConvertOp>(op->getLoc(),
                                                      result.getType(), value);
      results.push_back(value);
    }
    rewriter.replaceOp(op, results);
  }

  Operation *op;
  IRRewriter &rewriter;
  ElementMath all, features;
  RankedTensorType type;
  int64_t feature;
  double epsilon;
  Type computed;
};

struct LowerBatchNorm
    : public alula::input::impl::InputLowerBatchNormBase<LowerBatchNorm> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    getOperation().walk([&](Operation *op) {
      if (!isa<stablehlo::BatchNormInferenceOp, stablehlo::BatchNormTrainingOp,
               stablehlo::BatchNormGradOp>(op))
        return;
      rewriter.setInsertionPoint(op);
      BatchNormLowering lowering(op, rewriter);
      if (isa<stablehlo::BatchNormInferenceOp>(op))
        lowering.inference();
      else if (isa<stablehlo::BatchNormTrainingOp>(op))
        lowering.training();
      else
        lowering.grad();
    });
  }
};
} // namespace
