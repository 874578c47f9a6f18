#include "compiler/preprocess/contract.h"

using namespace mlir;
using namespace alula::preprocess;
using alula::dispatch::ExecutableOp;

GridLimits GridLimits::of(ArrayRef<std::string> targets) {
  GridLimits limits;
  for (StringRef target : targets)
    if (target.split(':').first == "cuda") {
      limits.count[0] = INT32_MAX;
      limits.count[1] = limits.count[2] = 65535;
      limits.size = 1024;
    }
  return limits;
}

bool alula::preprocess::hasObjects(ExecutableOp executable) {
  return executable.getObjects() && !executable.getObjects()->empty();
}

FunctionOpInterface alula::preprocess::getBody(ExecutableOp executable,
                                               StringRef entry) {
  // Whose code is all in objects may have no module.
  ModuleOp inner = executable.getInnerModule();
  auto function = inner ? inner.lookupSymbol<FunctionOpInterface>(entry)
                        : FunctionOpInterface();
  return function && !function.isExternal() ? function : FunctionOpInterface();
}
