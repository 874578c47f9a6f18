#include "compiler/preprocess/splice.h"

#include "compiler/preprocess/check_contract.h"
#include "compiler/preprocess/envelope.h"
#include "compiler/preprocess/host_functions.h"
#include "compiler/preprocess/resource_data.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace alula::preprocess;
using alula::dispatch::EntryOp;
using alula::dispatch::ExecutableOp;
using alula::dispatch::LaunchOp;

/// What the host computes is called by nobody, so it is kept out of the way.
LogicalResult alula::preprocess::finishBodies(ModuleOp envelope) {
  ExecutableOp executable = unwrap(envelope);
  ModuleOp inner = executable.getInnerModule();
  if (!inner)
    return success();
  inlineResources(inner);
  for (const Contract::Entry &entry : readContract(executable).entries)
    if (entry.form == BodyForm::Llvm)
      return success();
  SmallVector<func::FuncOp> hosts;
  for (auto entry : executable.getBody().getOps<EntryOp>())
    for (FlatSymbolRefAttr name :
         {entry.getWorkgroupCountAttr(), entry.getAddedConstantsAttr()})
      if (auto function =
              name ? inner.lookupSymbol<func::FuncOp>(name) : func::FuncOp()) {
        function->remove();
        hosts.push_back(function);
      }
  PassManager pm(envelope.getContext(), ModuleOp::getOperationName());
  pm.nest<ExecutableOp>().nest<ModuleOp>().addPass(
      createInlinerPass({}, [](OpPassManager &) {}));
  LogicalResult result = pm.run(envelope);
  for (func::FuncOp function : hosts)
    inner.push_back(function);
  return result;
}

/// What the kernel room writes on loops that it has made itself.
static void markLoops(EntryOp entry) {
  auto body =
      getBody(cast<ExecutableOp>(entry->getParentOp()), entry.getSymName());
  if (!body ||
      !llvm::any_of(body.getArgumentTypes(), llvm::IsaPred<MemRefType>))
    return;
  Builder b(entry.getContext());
  auto bindings = static_cast<int64_t>(entry.getBindings().size());
  auto constants = static_cast<int64_t>(entry.getConstantCount() +
                                        countAddedConstants(entry));
  body->setAttr("kernel.bindings", b.getI64IntegerAttr(bindings));
  body->setAttr("kernel.constants", b.getI64IntegerAttr(constants));
}

std::map<std::string, SmallVector<LaunchOp>>
alula::preprocess::findLaunches(ExecutableOp executable) {
  std::map<std::string, SmallVector<LaunchOp>> launches;
  executable->getParentOfType<ModuleOp>().walk([&](LaunchOp launch) {
    if (launch.getEntry().getRootReference() == executable.getSymNameAttr())
      launches[launch.getEntry().getLeafReference().str()].push_back(launch);
  });
  return launches;
}

Contract alula::preprocess::readContractInProgram(ExecutableOp executable) {
  Contract contract = readContract(executable);
  auto launches = findLaunches(executable);
  for (Contract::Entry &entry : contract.entries)
    for (LaunchOp launch : launches[entry.name])
      entry.launches.push_back(readConstants(launch));
  return contract;
}

void alula::preprocess::splice(ExecutableOp original, const Contract &contract,
                               ModuleOp envelope) {
  ExecutableOp executable = unwrap(envelope);
  restoreOwn(original, executable);
  for (auto [entry, was] : llvm::zip_equal(
           executable.getBody().getOps<EntryOp>(), contract.entries)) {
    entry.setPinned(hasOwnGrid(entry, was));
    markLoops(entry);
  }
  auto launches = findLaunches(original);
  inlineHostFunctions(executable, [&](StringRef entry) {
    return ArrayRef(launches[entry.str()]);
  });
  executable->moveBefore(original);
  original.erase();
}
