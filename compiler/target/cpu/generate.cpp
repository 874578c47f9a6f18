// One variant: each executable is cloned, lowered and compiled to an object;
// the objects are linked into one image.

#include "compiler/target/cpu/generate.h"

#include "compiler/target/cpu/library.h"
#include "compiler/target/cpu/link_image.h"
#include "compiler/target/cpu/object_code.h"
#include "compiler/target/cpu/pipeline.h"
#include "compiler/target/cpu/verify_image.h"
#include "dialect/dispatch/ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

#include <set>

using namespace mlir;
using namespace alula::cpu;
using alula::dispatch::EntryOp;
using alula::dispatch::ExecutableOp;

namespace {
/// The module of an executable by itself, entries marked for the lowering.
OwningOpRef<ModuleOp> cloneBodies(ExecutableOp executable) {
  OwningOpRef<ModuleOp> clone(
      cast<ModuleOp>(executable.getInnerModule()->clone()));
  Builder builder(executable.getContext());
  for (auto entry : executable.getBody().getOps<EntryOp>()) {
    auto function = clone->lookupSymbol<func::FuncOp>(entry.getSymName());
    function->setAttr("cpu.bindings",
                      builder.getI64IntegerAttr(
                          static_cast<int64_t>(entry.getBindings().size())));
  }
  return clone;
}

FailureOr<std::string> compile(ExecutableOp executable, const Machine &machine,
                               const CodegenHooks &hooks) {
  OwningOpRef<ModuleOp> bodies = cloneBodies(executable);
  PassManager pm(executable.getContext(), ModuleOp::getOperationName());
  addLoweringPipeline(pm);
  if (failed(pm.run(*bodies)))
    return failure();
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code =
      translateModuleToLLVMIR(*bodies, context, executable.getSymName());
  if (!code)
    return executable.emitError()
           << "'dispatch.executable': can't be translated to LLVM: @"
           << executable.getSymName();
  auto object = generateObject(*code, machine, hooks.isCancelled);
  if (!object)
    return executable.emitError()
           << "'dispatch.executable': " << llvm::toString(object.takeError());
  return std::move(*object);
}

llvm::Expected<std::set<std::string>>
findUndefined(llvm::ArrayRef<std::string> objects) {
  std::set<std::string> names;
  for (const std::string &object : objects) {
    auto undefined = alula::cpu::findUndefined(object);
    if (!undefined)
      return undefined.takeError();
    names.insert(undefined->begin(), undefined->end());
  }
  return names;
}

/// Adds what kernels call: routines of the library, then builtins. Few kernels
/// need any, and making them takes longer than a small kernel.
llvm::Error addCalled(std::vector<std::string> &objects,
                      const Machine &machine) {
  auto names = findUndefined(objects);
  if (!names)
    return names.takeError();
  size_t kernels = objects.size();
  for (const std::string &name : *names) {
    if (!llvm::StringRef(name).starts_with("alula_"))
      continue;
    auto routine = getRoutineObject(machine, name);
    if (!routine)
      return routine.takeError();
    if (!routine->empty())
      objects.push_back(std::move(*routine));
  }
  if (objects.size() != kernels) {
    names = findUndefined(objects);
    if (!names)
      return names.takeError();
  }
  auto builtins = getBuiltinsObject(machine, {names->begin(), names->end()});
  if (!builtins)
    return builtins.takeError();
  if (!builtins->empty())
    objects.push_back(std::move(*builtins));
  return llvm::Error::success();
}
} // namespace

LogicalResult alula::cpu::generateVariant(ModuleOp module,
                                          const Machine &machine,
                                          const CodegenHooks &hooks) {
  std::vector<std::string> objects, entries;
  auto executables = llvm::to_vector(module.getOps<ExecutableOp>());
  for (auto [i, executable] : llvm::enumerate(executables)) {
    if (hooks.isCancelled && hooks.isCancelled())
      return failure();
    if (hooks.onKernel)
      hooks.onKernel(executable.getSymName(), static_cast<unsigned>(i),
                     static_cast<unsigned>(executables.size()));
    auto object = compile(executable, machine, hooks);
    if (failed(object))
      return failure();
    objects.push_back(std::move(*object));
    for (auto entry : executable.getBody().getOps<EntryOp>())
      entries.push_back(entry.getSymName().str());
  }
  // A program that only moves its arguments has no code and runs anywhere.
  if (objects.empty())
    return success();
  if (auto error = addCalled(objects, machine))
    return module.emitError()
           << "'builtin.module': " << llvm::toString(std::move(error));
  auto image = linkImage(objects, entries, machine);
  if (!image)
    return module.emitError()
           << "'builtin.module': " << llvm::toString(image.takeError());

  if (auto error = verifyImage(*image, entries))
    return module.emitError()
           << "'builtin.module': " << llvm::toString(std::move(error));

  auto builder = OpBuilder::atBlockEnd(module.getBody());
  SmallVector<StringRef> features(machine.features.begin(),
                                  machine.features.end());
  builder.create<alula::dispatch::VariantOp>(
      module.getLoc(), machine.name, machine.target,
      builder.getStrArrayAttr(features), *image);
  return success();
}
