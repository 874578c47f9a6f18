// What inference says where an op is built from the wrong parts. Parsed ops
// never get that far: their invariants are verified first.

#include "dialect/stablehlo/ops.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace mlir;

namespace {
class InferRefusalTest : public testing::Test {
protected:
  InferRefusalTest() : builder(&context) {
    context.loadDialect<stablehlo::StablehloDialect>();
    vector = RankedTensorType::get({4}, builder.getF32Type());
    square = RankedTensorType::get({4, 4}, builder.getF32Type());
    scalar = RankedTensorType::get({}, builder.getF32Type());
    indices = RankedTensorType::get({2, 1}, builder.getI32Type());
    plain = builder.getF32Type();
  }

  /// The first message, without the op's name.
  std::string refusal(StringRef opName, ArrayRef<Type> operands,
                      ArrayRef<NamedAttribute> attributes = {}) {
    std::string message;
    ScopedDiagnosticHandler keep(&context, [&](Diagnostic &diagnostic) {
      if (message.empty())
        message = diagnostic.str();
      return success();
    });
    Location location = builder.getUnknownLoc();
    Block values;
    for (Type type : operands)
      values.addArgument(type, location);
    OperationState state(location, opName);
    Operation *op = Operation::create(state);
    op->setAttrs(attributes);
    SmallVector<Type> inferred;
    LogicalResult outcome =
        cast<InferTypeOpInterface>(op).inferReturnTypes(
            &context, location, values.getArguments(),
            op->getAttrDictionary(), op->getPropertiesStorage(), {}, inferred);
    op->destroy();
    std::string start = "'" + opName.str() + "': ";
    if (succeeded(outcome) || message.rfind(start, 0) != 0)
      return "no refusal: " + message;
    return message.substr(start.size());
  }

  NamedAttribute attribute(StringRef name, Attribute value) {
    return builder.getNamedAttr(name, value);
  }

  MLIRContext context;
  OpBuilder builder;
  Type vector, square, scalar, indices, plain;
};

TEST_F(InferRefusalTest, Elementwise) {
  EXPECT_EQ(refusal("stablehlo.add", {}), "needs an operand: has none");
  EXPECT_EQ(refusal("stablehlo.add", {vector, square}),
            "operand types must be compatible: 'tensor<4xf32>' and "
            "'tensor<4x4xf32>'");
  EXPECT_EQ(refusal("stablehlo.abs", {}), "needs 1 operand: has 0");
  EXPECT_EQ(refusal("stablehlo.abs", {plain}),
            "operands must be ranked tensors: operand 0 is 'f32'");
  EXPECT_EQ(refusal("stablehlo.compare", {vector, square}),
            "shapes must be compatible: operand 0 is 'tensor<4xf32>', operand "
            "1 is 'tensor<4x4xf32>'");
  EXPECT_EQ(refusal("stablehlo.complex", {indices, indices}),
            "operands have no such element type: operand 0 is "
            "'tensor<2x1xi32>'");
  EXPECT_EQ(refusal("stablehlo.select", {vector}), "needs 3 operands: has 1");
  EXPECT_EQ(refusal("stablehlo.map", {vector}),
            "dimensions must be given: are not");
  EXPECT_EQ(refusal("stablehlo.map", {vector, square}),
            "shapes of the inputs must be compatible: are 'tensor<4xf32>', "
            "'tensor<4x4xf32>'");
  EXPECT_EQ(refusal("stablehlo.map", {vector},
                    {attribute("dimensions", builder.getDenseI64ArrayAttr(0))}),
            "computation must have a block with a terminator: has none");
}

TEST_F(InferRefusalTest, Shape) {
  EXPECT_EQ(refusal("stablehlo.constant", {}), "value must be given: is not");
  EXPECT_EQ(refusal("stablehlo.broadcast", {vector}),
            "broadcast_sizes must be given: are not");
  EXPECT_EQ(refusal("stablehlo.concatenate", {vector}),
            "dimension must be given: is not");
  EXPECT_EQ(refusal("stablehlo.pad", {vector, scalar}),
            "paddings must be given: are not");
  EXPECT_EQ(refusal("stablehlo.transpose", {square}),
            "permutation must be given: is not");
  EXPECT_EQ(refusal("stablehlo.get_dimension_size", {plain}),
            "operand 0 must be a ranked tensor: is not");
  // More than a text can say, as its types are limited to fewer elements.
  Type huge = RankedTensorType::get({INT64_MAX}, builder.getF32Type());
  EXPECT_EQ(refusal("stablehlo.concatenate", {huge, huge},
                    {attribute("dimension", builder.getI64IntegerAttr(0))}),
            "size of the result must fit 64 bits: the sum in dimension 0 does "
            "not");
}

TEST_F(InferRefusalTest, Slice) {
  EXPECT_EQ(refusal("stablehlo.slice", {vector}),
            "start_indices, limit_indices and strides must be given: are not");
  EXPECT_EQ(refusal("stablehlo.dynamic_slice", {vector, scalar}),
            "slice_sizes must be given: are not");
  EXPECT_EQ(refusal("stablehlo.dynamic_update_slice", {vector}),
            "operand 1 must be a ranked tensor: is not");
}

TEST_F(InferRefusalTest, Control) {
  EXPECT_EQ(refusal("stablehlo.if", {scalar}), "needs a branch: has none");
  EXPECT_EQ(refusal("stablehlo.get_tuple_element", {vector}),
            "operand must be a tuple: operands are 'tensor<4xf32>'");
  EXPECT_EQ(refusal("stablehlo.get_tuple_element",
                    {TupleType::get(&context, {vector})}),
            "index must be given: is not");
  EXPECT_EQ(refusal("stablehlo.async_done", {vector}),
            "operand must be a future of one type: operands are "
            "'tensor<4xf32>'");
}

TEST_F(InferRefusalTest, Reduce) {
  EXPECT_EQ(refusal("stablehlo.reduce", {vector, scalar}),
            "dimensions must be given: are not");
  EXPECT_EQ(refusal("stablehlo.reduce", {vector, scalar, scalar}),
            "number of inputs and init_values must be equal and at least 1: 3 "
            "operands");
  EXPECT_EQ(refusal("stablehlo.reduce", {plain, scalar}),
            "inputs must have compatible shapes: are 'f32'");
  EXPECT_EQ(refusal("stablehlo.batch_norm_training", {square, vector, vector}),
            "feature_index must be given: is not");
  EXPECT_EQ(refusal("stablehlo.batch_norm_training", {square, vector}),
            "number of operands must be 3: is 2");
  EXPECT_EQ(refusal("stablehlo.select_and_scatter", {square, square}),
            "number of operands must be 3: is 2");
  EXPECT_EQ(refusal("stablehlo.select_and_scatter", {square, square, plain}),
            "operands must be ranked tensors: are 'tensor<4x4xf32>', "
            "'tensor<4x4xf32>', 'f32'");
  auto narrow = RankedTensorType::get({1, 2}, builder.getI32Type());
  EXPECT_EQ(
      refusal("stablehlo.reduce_window", {vector, scalar},
              {attribute("window_dimensions", builder.getDenseI64ArrayAttr(1)),
               attribute("padding", DenseElementsAttr::get(
                                        narrow, builder.getI32IntegerAttr(0)))}),
      "padding must be of 64-bit integers: is 'tensor<1x2xi32>'");
}

TEST_F(InferRefusalTest, LinearAlgebra) {
  EXPECT_EQ(refusal("stablehlo.cholesky", {}),
            "operand 0 must be a ranked tensor: is not");
  EXPECT_EQ(refusal("stablehlo.triangular_solve", {square}),
            "operand 1 must be a ranked tensor: is not");
  EXPECT_EQ(refusal("stablehlo.triangular_solve", {square, square}),
            "left_side and transpose_a must be given: are not");
  EXPECT_EQ(refusal("stablehlo.fft", {vector}),
            "fft_type and fft_length must be given: are not");
}

TEST_F(InferRefusalTest, GatherAndScatter) {
  EXPECT_EQ(refusal("stablehlo.gather", {vector}),
            "number of operands must be 2: is 1");
  EXPECT_EQ(refusal("stablehlo.gather", {plain, indices}),
            "operands must be ranked tensors: are 'f32', 'tensor<2x1xi32>'");
  EXPECT_EQ(refusal("stablehlo.gather", {vector, indices}),
            "dimension_numbers and slice_sizes must be given: are not");
  EXPECT_EQ(refusal("stablehlo.dynamic_gather", {vector}),
            "number of operands must be 3: is 1");
  EXPECT_EQ(refusal("stablehlo.dynamic_gather", {vector, indices, scalar}),
            "operands must be ranked tensors, slice_sizes a 1-dimensional one: "
            "are 'tensor<4xf32>', 'tensor<2x1xi32>', 'tensor<f32>'");
  EXPECT_EQ(refusal("stablehlo.dynamic_gather", {vector, indices, vector}),
            "dimension_numbers must be given: are not");
  EXPECT_EQ(refusal("stablehlo.scatter", {vector, plain, vector}),
            "scatter_indices must be a ranked tensor: is 'f32'");
  EXPECT_EQ(refusal("stablehlo.scatter", {vector, indices, vector}),
            "scatter_dimension_numbers must be given: are not");
}

TEST_F(InferRefusalTest, Collective) {
  EXPECT_EQ(refusal("stablehlo.all_to_all", {vector}),
            "split_dimension, concat_dimension and split_count must be given: "
            "are not");
  SmallVector<NamedAttribute> numbers = {
      attribute("split_dimension", builder.getI64IntegerAttr(0)),
      attribute("concat_dimension", builder.getI64IntegerAttr(0)),
      attribute("split_count", builder.getI64IntegerAttr(1))};
  EXPECT_EQ(refusal("stablehlo.all_to_all", {plain}, numbers),
            "operands must be ranked tensors: are 'f32'");
  EXPECT_EQ(refusal("stablehlo.collective_permute", {}),
            "needs an operand: has none");
}

TEST_F(InferRefusalTest, Rng) {
  EXPECT_EQ(refusal("stablehlo.rng", {scalar, scalar}),
            "number of operands must be 3: is 2");
  EXPECT_EQ(refusal("stablehlo.rng", {scalar, scalar, vector}),
            "rng_distribution must be given: is not");
  auto uniform = attribute(
      "rng_distribution",
      stablehlo::RngDistributionAttr::get(&context,
                                          stablehlo::RngDistribution::UNIFORM));
  EXPECT_EQ(refusal("stablehlo.rng", {scalar, scalar, scalar}, uniform),
            "shape must be a static 1-dimensional tensor: is 'tensor<f32>'");
}
} // namespace
