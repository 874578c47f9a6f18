#include "compiler/preprocess/test_pass.h"

#include "dialect/dispatch/ops.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <chrono>
#include <fcntl.h>
#include <thread>
#include <unistd.h>

using namespace mlir;
using alula::dispatch::ExecutableOp;

namespace {
struct TestPreprocess
    : public PassWrapper<TestPreprocess, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestPreprocess)

  TestPreprocess() = default;
  TestPreprocess(const TestPreprocess &other) : PassWrapper(other) {}
  StringRef getArgument() const override { return "test-preprocess"; }
  StringRef getDescription() const override {
    return "constants of 8080 become the executable's test.value";
  }

  void runOnOperation() override {
    for (auto executable : getOperation().getOps<ExecutableOp>()) {
      rest(executable.getSymName());
      if (failing == executable.getSymName()) {
        executable.emitError() << "test-preprocess: @" << failing << " fails";
        signalPassFailure();
      }
      if (auto value = executable->getAttrOfType<IntegerAttr>("test.value"))
        executable->walk([&](Operation *op) { replace(op, value.getInt()); });
    }
  }

  /// Says when it begins and ends, so that tests see who runs at once.
  void rest(StringRef name) {
    if (log.empty())
      return;
    write("begin", name);
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    write("end", name);
  }
  void write(StringRef what, StringRef name) {
    std::string line = (what + " " + name + "\n").str();
    int file = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666);
    if (file < 0 || ::write(file, line.data(), line.size()) < 0)
      signalPassFailure();
    close(file);
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

  Option<std::string> log{*this, "log", llvm::cl::desc("who begins and ends")};
  Option<unsigned> milliseconds{*this, "rest", llvm::cl::init(0),
                                llvm::cl::desc("milliseconds between these")};
  Option<std::string> failing{*this, "fail",
                              llvm::cl::desc("the executable that fails")};
};
} // namespace

void alula::preprocess::registerTestPass() {
  PassRegistration<TestPreprocess>();
}
