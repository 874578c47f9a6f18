// Products of numbers that are rounded before, where the program or an option
// asks for it.
//   dot_general %x, %y {algorithm = bf16 x bf16 -> f32} : f32 x f32 -> f32
//   → dot_general (convert %x), (convert %y) : bf16 x bf16 -> f32
// What tf32 is good enough for says so as a program would, in the product's
// algorithm: machines without it compute in f32.
// Rows that are multiplied by weights of few bits may become bytes, but how is
// the kernels' matter: the product has `alula.byte_activations`.
// A product that wants more than the default precision is left alone. What an
// option has changed is said in the module's `alula.accuracy`.

#include "compiler/optimize/passes.h"
#include "dialect/stablehlo/ops.h"
#include "dialect/stablehlo/widened_factor.h"

#include "mlir/IR/Builders.h"

namespace alula::optimize {
#define GEN_PASS_DEF_ROUNDPRODUCTS
#include "compiler/optimize/passes.h.inc"
} // namespace alula::optimize

using namespace mlir;

namespace {
bool isF32(Value value) {
  return getElementTypeOrSelf(value.getType()).isF32();
}

/// Whether the program leaves to us how exact a product is.
bool isDefault(Operation *product) {
  if (product->hasAttr("algorithm"))
    return false;
  auto precisions = product->getAttrOfType<ArrayAttr>("precision_config");
  return !precisions || llvm::all_of(precisions, [](Attribute precision) {
    return cast<stablehlo::PrecisionAttr>(precision).getValue() ==
           stablehlo::Precision::DEFAULT;
  });
}

/// The type that the program wants a side rounded to; null for others.
FloatType getAskedType(Type precision, int64_t components) {
  auto type = dyn_cast<FloatType>(precision);
  return type && components == 1 && (type.isBF16() || type.isF16())
             ? type
             : FloatType();
}

void roundOperand(Operation *product, unsigned number, FloatType element) {
  Value operand = product->getOperand(number);
  auto type = cast<RankedTensorType>(operand.getType());
  if (!element || !type.getElementType().isF32())
    return;
  OpBuilder builder(product);
  product->setOperand(number,
                      builder.create<stablehlo::ConvertOp>(
                          product->getLoc(), type.clone(element), operand));
}

/// Sides are rounded as the program says, where both have become one type.
bool roundAsAsked(stablehlo::DotGeneralOp dot) {
  auto algorithm = dot.getAlgorithmAttr();
  if (!algorithm || !isF32(dot.getResult()) || !isF32(dot.getLhs()) ||
      !isF32(dot.getRhs()))
    return false;
  FloatType left = getAskedType(algorithm.getLhsPrecisionType(),
                                algorithm.getLhsComponentCount());
  FloatType right = getAskedType(algorithm.getRhsPrecisionType(),
                                 algorithm.getRhsComponentCount());
  // One primitive product: what is split in several is nearer to f32.
  if (!left || left != right || algorithm.getNumPrimitiveOperations() != 1)
    return false;
  roundOperand(dot, 0, left);
  roundOperand(dot, 1, right);
  dot.removeAlgorithmAttr();
  return true;
}

/// Of groups of rows, whose sums are in f32 for sides of bf16 too.
bool isRaggedProduct(Operation *op) {
  auto call = dyn_cast<stablehlo::CustomCallOp>(op);
  return call && (call.getCallTargetName() == "alula.ragged_rows_product" ||
                  call.getCallTargetName() == "alula.ragged_sums_product");
}

/// How many sides are made of numbers of few bits, whose own scales say how
/// exact they are.
int64_t countWeights(Operation *product) {
  return llvm::count_if(product->getOpOperands(), [](OpOperand &operand) {
    return !stablehlo::findWidening(operand).empty();
  });
}

struct RoundProducts
    : public alula::optimize::impl::RoundProductsBase<RoundProducts> {
  using RoundProductsBase::RoundProductsBase;

  stablehlo::DotAlgorithmAttr getTf32Algorithm() {
    auto tf32 = FloatTF32Type::get(&getContext());
    return stablehlo::DotAlgorithmAttr::get(
        &getContext(), tf32, tf32, Float32Type::get(&getContext()),
        /*lhsComponentCount=*/1, /*rhsComponentCount=*/1,
        /*numPrimitiveOperations=*/1, /*allowImpreciseAccumulation=*/false);
  }

  void runOnOperation() override {
    int64_t rounded = 0, shortened = 0, allowed = 0, all = 0;
    getOperation().walk([&](Operation *op) {
      bool isRagged = isRaggedProduct(op);
      if ((!isa<stablehlo::DotGeneralOp, stablehlo::ConvolutionOp>(op) &&
           !isRagged) ||
          !isF32(op->getResult(0)))
        return;
      auto dot = dyn_cast<stablehlo::DotGeneralOp>(op);
      if (dot && roundAsAsked(dot))
        return;
      ++all;
      if (!isDefault(op) || !isF32(op->getOperand(0)) ||
          !isF32(op->getOperand(1)))
        return;
      if (int64_t weights = isRagged ? 0 : countWeights(op)) {
        if (byteActivations && weights == 1) {
          op->setAttr("alula.byte_activations", UnitAttr::get(&getContext()));
          ++allowed;
        }
        return;
      }
      if (!bf16Products && tf32Products && dot) {
        dot.setAlgorithmAttr(getTf32Algorithm());
        ++shortened;
      }
      if (!bf16Products)
        return;
      auto type = BFloat16Type::get(&getContext());
      roundOperand(op, 0, type);
      roundOperand(op, 1, type);
      ++rounded;
    });
    if (!bf16Products && !tf32Products && !byteActivations)
      return;
    Builder builder(&getContext());
    SmallVector<Attribute> lines;
    auto say = [&](bool isOn, StringRef option, int64_t count) {
      if (isOn)
        lines.push_back(builder.getStringAttr(option + ": " + Twine(count) +
                                              " of " + Twine(all)));
    };
    say(bf16Products, "bf16-products", rounded);
    say(tf32Products, "tf32-products", shortened);
    say(byteActivations, "i8-activations", allowed);
    getOperation()->setAttr("alula.accuracy", builder.getArrayAttr(lines));
  }
};
} // namespace
