// One module and one host program for each kind of machine.

#include "compiler/driver/kinds.h"

#include "compiler/target/cpu/machine.h"
#include "compiler/target/cuda/machine.h"
#include "dialect/dispatch/ops.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace alula;
using namespace alula::driver;

FailureOr<std::vector<Kind>>
alula::driver::findKinds(ModuleOp module, const CompileOptions &options) {
  std::vector<Kind> kinds;
  std::vector<std::string> others;
  for (const std::string &target : options.targets) {
    auto [driver, name] = StringRef(target).split(':');
    if (driver != "cpu" && driver != "cuda") {
      others.push_back(target);
      continue;
    }
    auto machine =
        driver == "cpu" ? cpu::findMachine(name) : cuda::findMachine(name);
    if (!machine)
      return module.emitError()
             << "'builtin.module': " << llvm::toString(machine.takeError());
    auto kind = llvm::find_if(kinds, [&](const Kind &each) {
      return each.kind == driver &&
             dispatch::isSameKind(each.facts, machine->facts);
    });
    if (kind == kinds.end()) {
      kinds.push_back({target, driver.str(), {target}, machine->facts});
      continue;
    }
    kind->targets.push_back(target);
    kind->facts = dispatch::meet(kind->facts, machine->facts);
  }
  if (kinds.empty())
    kinds.push_back({"cpu", "cpu", {}, cpu::getPortableFacts()});
  // With one kind the order stays as it was given.
  if (kinds.size() == 1)
    kinds.front().targets = options.targets;
  else
    llvm::append_range(kinds.front().targets, others);
  return kinds;
}

Dumps alula::driver::makeDumps(const Dumps &dumps, StringRef kind) {
  std::string folder = kind.str();
  std::replace(folder.begin(), folder.end(), ':', '-');
  Dumps mine = dumps;
  for (std::string Dumps::*each :
       {&Dumps::stages, &Dumps::sources, &Dumps::preprocessed, &Dumps::configs,
        &Dumps::benchmarks, &Dumps::intermediates, &Dumps::binaries})
    if (!(mine.*each).empty() && mine.*each != "-")
      mine.*each += "/" + folder;
  return mine;
}

std::string alula::driver::listNames(ArrayRef<Kind> kinds) {
  return llvm::join(
      llvm::map_range(kinds, [](const Kind &kind) { return kind.name; }), ", ");
}
