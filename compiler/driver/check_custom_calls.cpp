#include "compiler/driver/check_custom_calls.h"

#include "dialect/dispatch/kernel_call.h"

#include "dialect/stablehlo/ops.h"

using namespace mlir;

LogicalResult alula::driver::checkCustomCalls(ModuleOp module,
                                              ArrayRef<std::string> announced) {
  bool good = true;
  module.walk([&](Operation *op) {
    if (!isa<stablehlo::InfeedOp, stablehlo::OutfeedOp, stablehlo::SendOp,
             stablehlo::RecvOp>(op))
      return;
    good = false;
    op->emitError() << "'" << op->getName().getStringRef()
                    << "': no native code: a running program talks to nobody";
  });
  module.walk([&](stablehlo::CustomCallOp call) {
    StringRef name = call.getCallTargetName();
    // Shapes that are not known are checked when the program runs; a sink calls
    // nothing.
    if (name == "shape_assertion" || name == "dce_sink" ||
        dispatch::isKernelCall(name) || llvm::is_contained(announced, name))
      return;
    good = false;
    call.emitOpError() << "calls a function that nobody has announced: '"
                       << name << "'";
  });
  return success(good);
}
