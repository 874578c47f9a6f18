// Code of other compilers: between the flags, the tools and the targets.

#include "compiler/driver/object_stage.h"

#include "compiler/objects/embed.h"
#include "compiler/objects/prepare.h"
#include "compiler/objects/substitute.h"
#include "compiler/preprocess/plan.h"
#include "compiler/target/cpu/target_key.h"
#include "compiler/target/cuda/machine.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace alula;
using namespace alula::driver;

LogicalResult alula::driver::substituteObjects(ModuleOp module,
                                               const CompileOptions &options) {
  if (failed(objects::substituteExecutables(module, options.objects.sources,
                                            options.objects.missingIsError)))
    return failure();
  return objects::embedObjects(module, options.objects.searchPaths, "");
}

LogicalResult
alula::driver::substituteOwnObjects(ModuleOp module,
                                    const CompileOptions &options) {
  const objects::Substitutions &own = options.objects.objects;
  if (own.files.empty() && own.folders.empty())
    return success();
  if (failed(objects::substituteExecutables(module, own,
                                            options.objects.missingIsError)) ||
      failed(objects::embedObjects(module, options.objects.searchPaths, "")))
    return failure();
  return prepareObjects(module, options);
}

LogicalResult alula::driver::prepareObjects(ModuleOp module,
                                            const CompileOptions &options) {
  std::string tools;
  if (options.preprocess)
    tools = llvm::join(
        llvm::map_range(options.preprocess->steps,
                        [](const preprocess::Step &step) { return step.text; }),
        "; ");
  if (failed(objects::embedObjects(module, options.objects.searchPaths, tools)))
    return failure();
  objects::PrepareOptions prepare;
  prepare.cudaDriver = options.objects.cudaDriver;
  prepare.isBuiltin = cpu::isBuiltin;
  prepare.hasOtherTargets = options.isOneOfKinds;
  for (StringRef target : options.targets) {
    auto [kind, name] = target.split(':');
    // Whoever has no generator at all says so later.
    if (kind == "cpu") {
      if (auto machine = cpu::findMachine(name))
        prepare.targets.push_back(cpu::getTargetKey(*machine));
      else
        llvm::consumeError(machine.takeError());
    } else if (kind == "cuda") {
      auto key = cuda::findDevice(name);
      if (!key)
        return module.emitError()
               << "'builtin.module': " << llvm::toString(key.takeError());
      prepare.targets.push_back(*key);
    }
  }
  return objects::prepareObjects(module, prepare);
}
