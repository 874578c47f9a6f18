#include "compiler/preprocess/test_pass.h"

#include "dialect/dispatch/ops.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using alula::dispatch::ExecutableOp;

namespace {
struct TestPreprocess
    : public PassWrapper<TestPreprocess, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestPreprocess)

  StringRef getArgument() const override { return "test-preprocess"; }
  StringRef getDescription() const override {
    return "constants of 8080 become the executable's test.value";
  }

  void runOnOperation() override {
    for (auto executable : getOperation().getOps<ExecutableOp>())
      if (auto value = executable->getAttrOfType<IntegerAttr>("test.value"))
        executable->walk([&](Operation *op) { replace(op, value.getInt()); });
  }

  static void replace(Operation *op, int64_t value) {
    auto constant = op->getAttrOfType<DenseIntElementsAttr>("value");
    if (!constant || !constant.isSplat() ||
        constant.getElementType().getIntOrFloatBitWidth() != 64 ||
        constant.getSplatValue<APInt>() != 8080)
      return;
    op->setAttr("value", DenseElementsAttr::get(
                             constant.getType(),
                             APInt(64, static_cast<uint64_t>(value))));
  }
};
} // namespace

void alula::preprocess::registerTestPass() {
  PassRegistration<TestPreprocess>();
}
