#include "dialect/chlo/access.h"

#include "dialect/chlo/ops.h"

#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace mlir;
using stablehlo::Access;
using stablehlo::Cost;

namespace {
class ChloAccessTest : public testing::Test {
protected:
  ChloAccessTest() { context.loadDialect<chlo::ChloDialect>(); }
  MLIRContext context;
};

TEST_F(ChloAccessTest, EveryOpHasAnEntry) {
  size_t count = 0;
  for (RegisteredOperationName name : context.getRegisteredOperations()) {
    if (name.getDialectNamespace() != "chlo")
      continue;
    ++count;
    ASSERT_TRUE(chlo::getAccessTable().contains(name.getTypeID()))
        << name.getStringRef().str()
        << " has no row in dialect/chlo/access.cpp";
    const auto &access = chlo::getAccessTable().at(name.getTypeID());
    // Their operands are broadcast by the op itself.
    EXPECT_EQ(access.groups[0].access == Access::Repeated,
              name.getStringRef().starts_with("chlo.broadcast_"))
        << name.getStringRef().str();
  }
  EXPECT_EQ(count, chlo::getAccessTable().size());
}

TEST_F(ChloAccessTest, NamedFunctions) {
  for (StringRef name : {"chlo.erf", "chlo.erfc"}) {
    OperationName op(name, &context);
    const auto &access = chlo::getAccessTable().at(op.getTypeID());
    EXPECT_EQ(access.groups[0].access, Access::Elementwise);
    EXPECT_EQ(access.cost, Cost::Function);
  }
}
} // namespace
