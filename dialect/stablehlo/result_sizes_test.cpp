// Sizes that are known before a program runs.

#include "dialect/stablehlo/result_sizes.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::stablehlo;

namespace {
constexpr int64_t unknown = ShapedType::kDynamic;
using Shape = SmallVector<int64_t>;

/// The sizes of the first op of a function of an array, a list and some sizes;
/// elements of the list are 5, 7.
std::optional<Shape> compute(StringRef op, bool isListKnown = true) {
  MLIRContext context;
  context.loadDialect<StablehloDialect, func::FuncDialect>();
  auto module = parseSourceString<ModuleOp>(
      ("func.func @f(%x: tensor<?x8xf32>, %y: tensor<3x?x8xf32>, "
       "%z: tensor<?x8x4xf32>, %l: tensor<2xi32>, %s: tensor<f32>) {\n" +
       op + "\n return }")
          .str(),
      &context);
  EXPECT_TRUE(module);
  if (!module)
    return std::nullopt;
  Operation &first =
      cast<func::FuncOp>(module->getBody()->front()).front().front();
  return computeKnownSizes(
      first.getResult(0),
      [&](Value, ArrayRef<int64_t> position) -> std::optional<int64_t> {
        return isListKnown ? std::optional<int64_t>(5 + 2 * position[0])
                           : std::nullopt;
      });
}

TEST(ResultSizesTest, ProductTakesBatchFromWhoKnows) {
  EXPECT_EQ(compute("%0 = stablehlo.dot_general %z, %y, batching_dims = [0] x "
                    "[0], contracting_dims = [1] x [2] : (tensor<?x8x4xf32>, "
                    "tensor<3x?x8xf32>) -> tensor<?x?x?xf32>"),
            (Shape{3, 4, unknown}));
}

TEST(ResultSizesTest, Lists) {
  StringRef reshape = "%0 = stablehlo.dynamic_reshape %x, %l : "
                      "(tensor<?x8xf32>, tensor<2xi32>) -> tensor<?x?xf32>";
  EXPECT_EQ(compute(reshape), (Shape{5, 7}));
  EXPECT_EQ(compute(reshape, /*isListKnown=*/false), (Shape{unknown, unknown}));
}

TEST(ResultSizesTest, PadAndConcatenate) {
  EXPECT_EQ(compute("%0 = stablehlo.dynamic_pad %x, %s, %l, %l, %l : "
                    "(tensor<?x8xf32>, tensor<f32>, tensor<2xi32>, "
                    "tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>"),
            // 8 elements, 7 gaps of 7, edges of 7.
            (Shape{unknown, 8 + 7 * 7 + 7 + 7}));
  EXPECT_EQ(compute("%0 = stablehlo.concatenate %x, %x, dim = 1 : "
                    "(tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x16xf32>"),
            (Shape{unknown, 16}));
}

TEST(ResultSizesTest, Groups) {
  EXPECT_EQ(compute("%0 = \"stablehlo.all_gather\"(%x) <{all_gather_dim = 1 : "
                    "i64, replica_groups = dense<[[0, 1, 2]]> : "
                    "tensor<1x3xi64>}> : (tensor<?x8xf32>) -> "
                    "tensor<?x24xf32>"),
            (Shape{unknown, 24}));
  // Partitions of each replica: how many there are is the run's.
  EXPECT_EQ(compute("%0 = \"stablehlo.all_gather\"(%x) <{all_gather_dim = 1 : "
                    "i64, channel_handle = #stablehlo.channel_handle<handle = "
                    "1, type = 1>, replica_groups = dense<[[0, 1, 2]]> : "
                    "tensor<1x3xi64>}> : (tensor<?x8xf32>) -> "
                    "tensor<?x24xf32>"),
            (Shape{unknown, unknown}));
}

TEST(ResultSizesTest, NothingFollows) {
  EXPECT_EQ(compute("%0 = stablehlo.custom_call @f(%x) : (tensor<?x8xf32>) -> "
                    "tensor<?x8xf32>"),
            std::nullopt);
}
} // namespace
