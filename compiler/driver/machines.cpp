// From the list of targets to facts that rooms may read.

#include "compiler/driver/machines.h"

#include "compiler/driver/kinds.h"
#include "compiler/driver/options.h"
#include "dialect/dispatch/ops.h"

using namespace mlir;
using namespace alula;
using dispatch::machineAttributeName;

LogicalResult alula::driver::assignMachine(ModuleOp module,
                                           const CompileOptions &options) {
  if (module->hasAttr(machineAttributeName))
    return success();
  FailureOr<std::vector<Kind>> kinds = findKinds(module, options);
  if (failed(kinds))
    return failure();
  MLIRContext *context = module.getContext();
  context->getOrLoadDialect<dispatch::DispatchDialect>();
  module->setAttr(
      machineAttributeName,
      dispatch::MachineAttr::get(context, kinds->front().kind,
                                 kinds->front().facts));
  return success();
}

void alula::driver::copyMachine(ModuleOp whole, ModuleOp part) {
  if (Attribute machine = whole->getAttr(machineAttributeName))
    part->setAttr(machineAttributeName, machine);
}
