// One variant: the objects of all executables, ours and those of other
// compilers, and what they call are linked into one image.

#include "compiler/target/cpu/generate.h"

#include "compiler/objects/code_plan.h"
#include "compiler/objects/elf_object.h"
#include "compiler/target/cpu/compile_executables.h"
#include "compiler/target/cpu/library.h"
#include "compiler/target/cpu/link_image.h"
#include "compiler/target/cpu/object_code.h"
#include "compiler/target/cpu/verify_image.h"
#include "dialect/dispatch/ops.h"

#include "mlir/IR/Builders.h"

#include <set>

using namespace mlir;
using namespace alula::cpu;
using alula::dispatch::EntryOp;
using alula::dispatch::ExecutableOp;
using alula::objects::CpuPlan;

namespace {
/// Takes the objects of an executable, ours and those of others, each with names
/// that no other executable has.
LogicalResult collect(CompiledExecutable &work,
                      std::vector<std::string> &objects) {
  ExecutableOp executable = work.executable;
  auto report = [&](const std::string &problem) {
    return executable.emitError() << "'dispatch.executable': " << problem;
  };
  if (!work.problem.empty())
    return report(work.problem);
  std::vector<std::string> own;
  if (!work.object.empty())
    own.push_back(std::move(work.object));
  for (alula::dispatch::ObjectAttr object : work.plan.elf)
    own.push_back(object.getBytes().str());
  for (std::string &object : own) {
    if (!work.plan.names.empty()) {
      auto renamed = alula::objects::renameSymbols(object, work.plan.names);
      if (!renamed)
        return report(llvm::toString(renamed.takeError()));
      object = std::move(*renamed);
    }
    objects.push_back(std::move(object));
  }
  return success();
}

/// What code is made of, for the manifest, if it is not ours alone.
void addOrigins(ExecutableOp executable, const CpuPlan &plan,
                SmallVectorImpl<NamedAttribute> &origins) {
  std::string text;
  auto add = [&](alula::dispatch::ObjectAttr object, llvm::StringRef kind) {
    text += (text.empty() ? "" : ", ") +
            alula::objects::describeOrigin(kind, object);
  };
  if (!plan.replacesBodies)
    text = "generated";
  for (alula::dispatch::ObjectAttr object : plan.elf)
    add(object, "object");
  for (alula::dispatch::ObjectAttr object : plan.bitcode)
    add(object, "bitcode");
  Builder builder(executable.getContext());
  if (!plan.elf.empty() || !plan.bitcode.empty())
    for (auto entry : executable.getBody().getOps<EntryOp>())
      origins.push_back(builder.getNamedAttr(entry.getSymName(),
                                             builder.getStringAttr(text)));
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
  SmallVector<NamedAttribute> origins;
  std::vector<CompiledExecutable> works;
  for (auto executable : module.getOps<ExecutableOp>())
    works.push_back({executable, {}, {}, {}});
  bool allCompiled = succeeded(compileExecutables(works, machine, hooks));
  for (CompiledExecutable &work : works)
    if (failed(collect(work, objects)))
      return failure();
  if (!allCompiled)
    return failure();
  for (CompiledExecutable &work : works) {
    addOrigins(work.executable, work.plan, origins);
    for (auto entry : work.executable.getBody().getOps<EntryOp>())
      entries.push_back(entry.getSymName().str());
  }
  // A program that only moves its arguments has no code and runs anywhere.
  if (objects.empty())
    return success();
  if (auto error = addCalled(objects, machine))
    return module.emitError()
           << "'builtin.module': " << llvm::toString(std::move(error));
  auto image = linkImage(objects, entries, machine, !origins.empty(),
                         hooks.debugLevel > 0);
  if (!image)
    return module.emitError()
           << "'builtin.module': " << llvm::toString(image.takeError());

  if (auto error = verifyImage(*image, entries))
    return module.emitError()
           << "'builtin.module': " << llvm::toString(std::move(error));

  auto builder = OpBuilder::atBlockEnd(module.getBody());
  SmallVector<StringRef> features(machine.features.begin(),
                                  machine.features.end());
  auto variant = builder.create<alula::dispatch::VariantOp>(
      module.getLoc(), machine.name, machine.target,
      builder.getStrArrayAttr(features), *image);
  if (!origins.empty())
    variant->setAttr("dispatch.origins", builder.getDictionaryAttr(origins));
  return success();
}
