// From the list of targets to facts that rooms may read.

#include "compiler/driver/machines.h"

#include "compiler/driver/options.h"
#include "compiler/target/cpu/machine.h"
#include "dialect/dispatch/ops.h"

using namespace mlir;
using namespace alula;
using dispatch::machineAttributeName;

LogicalResult alula::driver::assignMachine(ModuleOp module,
                                           const CompileOptions &options) {
  if (module->hasAttr(machineAttributeName))
    return success();
  std::optional<dispatch::MachineFacts> facts;
  for (StringRef target : options.targets) {
    auto [kind, name] = target.split(':');
    if (kind != "cpu")
      continue;
    auto machine = cpu::findMachine(name);
    if (!machine)
      return module.emitError()
             << "'builtin.module': " << llvm::toString(machine.takeError());
    facts = facts ? dispatch::meet(*facts, machine->facts)
                  : dispatch::MachineFacts(machine->facts);
  }
  MLIRContext *context = module.getContext();
  context->getOrLoadDialect<dispatch::DispatchDialect>();
  module->setAttr(machineAttributeName,
                  dispatch::MachineAttr::get(
                      context, "cpu", facts.value_or(cpu::getPortableFacts())));
  return success();
}

void alula::driver::copyMachine(ModuleOp whole, ModuleOp part) {
  if (Attribute machine = whole->getAttr(machineAttributeName))
    part->setAttr(machineAttributeName, machine);
}
