// How ops read their operands, what an element costs and how many terms it has.

#include "dialect/stablehlo/access.h"
#include "dialect/stablehlo/element_rules.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::stablehlo;

namespace {
StringRef nameOf(Access access) {
  switch (access) {
  case Access::Unread:
    return "unread";
  case Access::Elementwise:
    return "elementwise";
  case Access::Reshaped:
    return "reshaped";
  case Access::Permuted:
    return "permuted";
  case Access::Moved:
    return "moved";
  case Access::Repeated:
    return "repeated";
  case Access::Part:
    return "part";
  case Access::Fill:
    return "fill";
  case Access::Picked:
    return "picked";
  case Access::Indices:
    return "indices";
  case Access::Sizes:
    return "sizes";
  case Access::Bits:
    return "bits";
  case Access::Updated:
    return "updated";
  case Access::Scattered:
    return "scattered";
  case Access::Window:
    return "window";
  case Access::Reduced:
    return "reduced";
  case Access::Contracted:
    return "contracted";
  case Access::Sorted:
    return "sorted";
  case Access::Whole:
    return "whole";
  case Access::Carried:
    return "carried";
  }
  return "";
}

class AccessTest : public testing::Test {
protected:
  AccessTest() { context.loadDialect<StablehloDialect, func::FuncDialect>(); }

  /// The ops of a function's body, as `name: access of each operand, terms`.
  std::string describe(StringRef body) {
    module = parseSourceString<ModuleOp>(
        ("func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, "
         "%w: tensor<8x5xf32>, %s: tensor<f32>, %i: tensor<3x2xi32>, "
         "%n: tensor<i32>, %p: tensor<i1>, %u: tensor<3xf32>, "
         "%l: tensor<2xi32>, %im: tensor<1x9x9x2xf32>, "
         "%k: tensor<3x3x2x6xf32>, %d: tensor<?x8xf32>) {\n" +
         body + "\n return }")
            .str(),
        &context);
    std::string text;
    if (!module)
      return "no module";
    for (Operation &op :
         cast<func::FuncOp>(module->getBody()->front()).front()) {
      if (!isa<StablehloDialect>(op.getDialect()))
        continue;
      text += op.getName().stripDialect().str() + ":";
      for (OpOperand &use : op.getOpOperands())
        text += " " + nameOf(getAccess(use)).str();
      std::optional<int64_t> terms = countTerms(&op);
      text += ", " + (terms ? std::to_string(*terms) : "?") + "\n";
    }
    return text;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

// A new op needs a row in the table, and what is gone has none.
TEST_F(AccessTest, EveryOpHasAnEntry) {
  size_t count = 0;
  for (RegisteredOperationName name : context.getRegisteredOperations()) {
    if (name.getDialectNamespace() != "stablehlo")
      continue;
    ++count;
    EXPECT_TRUE(getAccessTable().contains(name.getTypeID()))
        << name.getStringRef().str()
        << " has no row in dialect/stablehlo/access.cpp";
  }
  EXPECT_EQ(count, getAccessTable().size());
}

// MLIR's own trait says the same of all ops that have it.
TEST_F(AccessTest, AgreesWithTrait) {
  for (RegisteredOperationName name : context.getRegisteredOperations()) {
    if (name.getDialectNamespace() != "stablehlo" ||
        !name.hasTrait<mlir::OpTrait::Elementwise>())
      continue;
    const OpAccess &access = getAccessTable().at(name.getTypeID());
    EXPECT_EQ(access.numGroups, 1) << name.getStringRef().str();
    EXPECT_EQ(access.groups[0].access, Access::Elementwise)
        << name.getStringRef().str();
  }
}

TEST_F(AccessTest, Elementwise) {
  EXPECT_EQ(describe(R"(
    %0 = stablehlo.add %x, %y : tensor<4x8xf32>
    %1 = stablehlo.clamp %s, %x, %s : (tensor<f32>, tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
    %2 = stablehlo.select %p, %x, %y : tensor<i1>, tensor<4x8xf32>
    %3 = stablehlo.bitcast_convert %x : (tensor<4x8xf32>) -> tensor<4x8xi32>
    %4 = stablehlo.bitcast_convert %x : (tensor<4x8xf32>) -> tensor<4x8x2xi16>)"),
            "add: elementwise elementwise, 1\n"
            "clamp: elementwise elementwise elementwise, 1\n"
            "select: elementwise elementwise elementwise, 1\n"
            "bitcast_convert: elementwise, 1\n"
            "bitcast_convert: bits, 1\n");
  Block &body = cast<func::FuncOp>(module->getBody()->front()).front();
  for (auto [i, op] : llvm::enumerate(body.without_terminator())) {
    EXPECT_EQ(isElementwise(&op), i != 4);
    EXPECT_EQ(keepsIndices(&op), i != 4);
  }
}

TEST_F(AccessTest, Movement) {
  EXPECT_EQ(describe(R"(
    %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
    %1 = stablehlo.reshape %x : (tensor<4x8xf32>) -> tensor<32xf32>
    %2 = stablehlo.slice %x [0:2, 0:8] : (tensor<4x8xf32>) -> tensor<2x8xf32>
    %3 = stablehlo.pad %x, %s, low = [1, 0], high = [0, 0], interior = [0, 0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<5x8xf32>
    %4 = stablehlo.concatenate %x, %y, dim = 0 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    %5 = stablehlo.dynamic_slice %x, %n, %n, sizes = [1, 8] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
    %6 = stablehlo.dynamic_update_slice %x, %5, %n, %n : (tensor<4x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
    %7 = stablehlo.broadcast_in_dim %u, dims = [0] : (tensor<3xf32>) -> tensor<3x2xf32>
    %8 = stablehlo.dynamic_reshape %x, %l : (tensor<4x8xf32>, tensor<2xi32>) -> tensor<?x?xf32>
    %9 = stablehlo.iota dim = 0 : tensor<4xi32>)"),
            "transpose: permuted, 1\n"
            "reshape: reshaped, 1\n"
            "slice: moved, 1\n"
            "pad: moved fill, 1\n"
            "concatenate: part part, 1\n"
            "dynamic_slice: moved indices indices, 1\n"
            "dynamic_update_slice: updated part indices indices, 1\n"
            "broadcast_in_dim: repeated, 1\n"
            "dynamic_reshape: reshaped sizes, 1\n"
            "iota:, 1\n");
}

TEST_F(AccessTest, Rows) {
  EXPECT_EQ(describe(R"(
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x5xf32>) -> tensor<4x5xf32>
    %1 = stablehlo.dot_general %w, %d, contracting_dims = [1] x [0] : (tensor<8x5xf32>, tensor<?x8xf32>) -> tensor<8x8xf32>
    %2 = stablehlo.dot_general %d, %x, contracting_dims = [0] x [0] : (tensor<?x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    %3 = stablehlo.convolution(%im, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x9x9x2xf32>, tensor<3x3x2x6xf32>) -> tensor<1x7x7x6xf32>
    %4:2 = stablehlo.reduce(%x init: %s), (%y init: %s) across dimensions = [1] : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>)
      reducer(%a: tensor<f32>, %c: tensor<f32>) (%b: tensor<f32>, %e: tensor<f32>) {
        stablehlo.return %a, %b : tensor<f32>, tensor<f32>
      }
    %5 = "stablehlo.sort"(%x) <{dimension = 1 : i64}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        stablehlo.return %p : tensor<i1>
      }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %6 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x8xf32>, tensor<3x2xi32>) -> tensor<3xf32>
    %7 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        stablehlo.return %b : tensor<f32>
      }) : (tensor<4x8xf32>, tensor<3x2xi32>, tensor<3xf32>) -> tensor<4x8xf32>)"),
            "dot_general: contracted contracted, 8\n"
            "dot_general: contracted contracted, 5\n"
            "dot_general: contracted contracted, ?\n"
            "convolution: window contracted, 18\n"
            "reduce: reduced reduced fill fill, 8\n"
            "sort: sorted, 3\n"
            "gather: picked indices, 1\n"
            "scatter: updated indices scattered, 1\n");
}

TEST_F(AccessTest, OutsideAndControl) {
  describe(R"(
    %0 = stablehlo.partition_id : tensor<ui32>
    %1 = stablehlo.custom_call @f(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %2 = "stablehlo.if"(%p) ({
        stablehlo.return %x : tensor<4x8xf32>
      }, {
        stablehlo.return %y : tensor<4x8xf32>
      }) : (tensor<i1>) -> tensor<4x8xf32>
    %3 = stablehlo.optimization_barrier %x : tensor<4x8xf32>
    %4 = stablehlo.exponential %x : tensor<4x8xf32>)");
  ASSERT_TRUE(module);
  SmallVector<Operation *> ops;
  for (Operation &op : cast<func::FuncOp>(module->getBody()->front()).front())
    ops.push_back(&op);
  EXPECT_TRUE(reachesOutside(ops[0]));
  EXPECT_TRUE(reachesOutside(ops[1]));
  EXPECT_TRUE(isControlFlow(ops[2]));
  EXPECT_EQ(getAccess(ops[3], 0), Access::Carried);
  // Without operands, but not made of nothing.
  EXPECT_FALSE(readsOnly(ops[0], Access::Elementwise));
  EXPECT_TRUE(readsOnly(ops[4], Access::Elementwise));
  EXPECT_FALSE(readsOnly(ops[4], Access::Moved | Access::Repeated));
  EXPECT_EQ(getElementCost(ops[4]), Cost::Function);
  // func.return is none of the language's.
  EXPECT_EQ(findAccess(ops[5]), nullptr);
  EXPECT_EQ(getAccess(ops[5]->getParentOp(), 0), Access::Whole);
  EXPECT_FALSE(readsOnly(ops[5], Access::Whole));
}
} // namespace
