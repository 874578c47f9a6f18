// What inference says where an op is built from the wrong parts. Parsed ops
// never get that far: their invariants are verified first.

#include "dialect/chlo/ops.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace mlir;

namespace {
class InferRefusalTest : public testing::Test {
protected:
  InferRefusalTest() : builder(&context) {
    context.loadDialect<chlo::ChloDialect>();
  }

  /// The first message about an op with an empty body.
  std::string refusal(StringRef opName, ArrayRef<Type> operands,
                      ArrayRef<NamedAttribute> attributes,
                      unsigned numRegions = 0) {
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
    state.addOperands(values.getArguments());
    for (unsigned i = 0; i < numRegions; ++i)
      state.addRegion();
    Operation *op = Operation::create(state);
    op->setAttrs(attributes);
    SmallVector<Type> inferred;
    LogicalResult outcome = cast<InferTypeOpInterface>(op).inferReturnTypes(
        &context, location, op->getOperands(), op->getAttrDictionary(),
        op->getPropertiesStorage(), op->getRegions(), inferred);
    op->destroy();
    return succeeded(outcome) ? "inferred" : message;
  }

  MLIRContext context;
  OpBuilder builder;
};

TEST_F(InferRefusalTest, ConstantLike) {
  Type plain = builder.getF32Type();
  NamedAttribute value =
      builder.getNamedAttr("value", builder.getF32FloatAttr(1));
  EXPECT_EQ(refusal("chlo.constant_like", {plain}, {value}),
            "'chlo.constant_like': needs a shaped operand and a value");
  EXPECT_EQ(refusal("chlo.constant_like", {RankedTensorType::get({4}, plain)},
                    {}),
            "'chlo.constant_like': needs a shaped operand and a value");
}

TEST_F(InferRefusalTest, Scan) {
  Type carry = RankedTensorType::get({3}, builder.getF32Type());
  SmallVector<NamedAttribute> attributes = {
      builder.getNamedAttr("dimension", builder.getI64IntegerAttr(0)),
      builder.getNamedAttr("operandSegmentSizes",
                           builder.getDenseI32ArrayAttr({0, 1})),
      builder.getNamedAttr("resultSegmentSizes",
                           builder.getDenseI32ArrayAttr({0, 1}))};
  EXPECT_EQ(refusal("chlo.scan", {carry}, attributes, /*numRegions=*/1),
            "'chlo.scan': body must have a terminator: has none");
}
} // namespace
