// The builders that programs use most, and the types that they infer.

#include "dialect/stablehlo/ops.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::stablehlo;

namespace {
class BuildersTest : public testing::Test {
protected:
  BuildersTest() : builder(&context) {
    context.loadDialect<StablehloDialect>();
    module = ModuleOp::create(builder.getUnknownLoc());
    builder.setInsertionPointToStart(module->getBody());
  }

  template <typename Op, typename... Arguments>
  Op create(Arguments &&...arguments) {
    return builder.create<Op>(builder.getUnknownLoc(),
                              std::forward<Arguments>(arguments)...);
  }

  MLIRContext context;
  OpBuilder builder;
  OwningOpRef<ModuleOp> module;
};

TEST_F(BuildersTest, ScalarConstant) {
  auto constant = create<ConstantOp>(builder.getF32FloatAttr(1.0f));
  EXPECT_EQ(constant.getType(),
            RankedTensorType::get({}, builder.getF32Type()));
  EXPECT_TRUE(succeeded(verify(*module)));
}

TEST_F(BuildersTest, InferredResults) {
  auto constant = create<ConstantOp>(builder.getF32FloatAttr(1.0f));
  auto sum = create<AddOp>(constant, constant);
  EXPECT_EQ(sum.getType(), constant.getType());
  auto order = create<CompareOp>(sum, constant, ComparisonDirection::LT);
  EXPECT_EQ(order.getType(), RankedTensorType::get({}, builder.getI1Type()));
  EXPECT_FALSE(order.getCompareType().has_value());
  auto total = create<CompareOp>(sum, constant, ComparisonDirection::LT,
                                 ComparisonType::TOTALORDER);
  EXPECT_EQ(total.getCompareType(), ComparisonType::TOTALORDER);
  auto wide = create<ConvertOp>(sum, builder.getF64Type());
  EXPECT_EQ(wide.getType(), RankedTensorType::get({}, builder.getF64Type()));
  EXPECT_TRUE(succeeded(verify(*module)));
}

TEST_F(BuildersTest, Accuracy) {
  auto tolerance = ResultAccuracyAttr::get(&context, APFloat(1e-5),
                                           APFloat(0.0), /*ulps=*/2);
  EXPECT_EQ(tolerance.getMode().getValue(), ResultAccuracyMode::TOLERANCE);
  auto highest = ResultAccuracyAttr::get(&context, ResultAccuracyMode::HIGHEST);
  EXPECT_TRUE(highest.getAtol().isZero());
}
} // namespace
