// Fails, so that tests see what a failure leaves behind.

#include "compiler/driver/passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cstdlib>

namespace alula::driver {
#define GEN_PASS_DEF_TESTFAIL
#include "compiler/driver/passes.h.inc"
} // namespace alula::driver

namespace {
struct TestFail : public alula::driver::impl::TestFailBase<TestFail> {
  using TestFailBase::TestFailBase;

  void runOnOperation() override {
    if (how == "crash")
      abort();
    if (how == "say")
      getOperation().emitError() << "'builtin.module': fails to be tested";
    // No result is what it says any more.
    if (how == "invalid") {
      for (auto function : getOperation().getOps<mlir::func::FuncOp>())
        function.setType(mlir::FunctionType::get(&getContext(), {}, {}));
      return;
    }
    signalPassFailure();
  }
};
} // namespace
