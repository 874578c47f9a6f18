// What attributes say that only code can make: their syntax leaves nothing out.

#include "dialect/stablehlo/ops.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace mlir;

namespace {
class AttributesTest : public testing::Test {
protected:
  AttributesTest() {
    context.loadDialect<stablehlo::StablehloDialect>();
    context.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
      message = diagnostic.str();
      return success();
    });
  }

  InFlightDiagnostic report() {
    return emitError(UnknownLoc::get(&context));
  }

  std::string accuracy(APFloat atol, APFloat rtol,
                       stablehlo::ResultAccuracyModeAttr mode) {
    EXPECT_FALSE(stablehlo::ResultAccuracyAttr::getChecked(
        [&] { return report(); }, &context, atol, rtol, /*ulps=*/int64_t(0),
        mode));
    return message;
  }

  MLIRContext context;
  std::string message;
};

TEST_F(AttributesTest, ResultAccuracy) {
  auto mode = stablehlo::ResultAccuracyModeAttr::get(
      &context, stablehlo::ResultAccuracyMode::TOLERANCE);
  EXPECT_EQ(accuracy(APFloat(0.0f), APFloat(0.0), mode),
            "'stablehlo.result_accuracy': tolerances must be f64");
  EXPECT_EQ(accuracy(APFloat(0.0), APFloat(0.0f), mode),
            "'stablehlo.result_accuracy': tolerances must be f64");
  EXPECT_EQ(accuracy(APFloat(0.0), APFloat(0.0), {}),
            "'stablehlo.result_accuracy': needs a mode");
}

TEST_F(AttributesTest, ReplicaGroupMeshAxes) {
  Attribute mesh = FlatSymbolRefAttr::get(&context, "mesh");
  EXPECT_FALSE(stablehlo::ReplicaGroupMeshAxesAttr::getChecked(
      [&] { return report(); }, &context, mesh, ArrayAttr()));
  EXPECT_EQ(message, "'stablehlo.replica_group_mesh_axes': needs axes");
}
} // namespace
