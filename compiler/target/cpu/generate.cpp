// One variant: each executable is cloned, lowered and compiled to an object;
// the objects, and those of other compilers, are linked into one image.

#include "compiler/target/cpu/generate.h"

#include "compiler/objects/elf_object.h"
#include "compiler/target/cpu/library.h"
#include "compiler/target/cpu/link_bitcode.h"
#include "compiler/target/cpu/link_image.h"
#include "compiler/target/cpu/object_code.h"
#include "compiler/target/cpu/pipeline.h"
#include "compiler/target/cpu/verify_image.h"
#include "dialect/dispatch/imports.h"
#include "dialect/dispatch/ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Threading.h"

#include <mutex>
#include <set>
#include <thread>

using namespace mlir;
using namespace alula::cpu;
using alula::dispatch::EntryOp;
using alula::dispatch::ExecutableOp;
using alula::objects::CpuPlan;

namespace {
/// The module of an executable by itself, entries marked for the lowering.
OwningOpRef<ModuleOp> cloneBodies(ExecutableOp executable) {
  OwningOpRef<ModuleOp> clone(
      cast<ModuleOp>(executable.getInnerModule()->clone()));
  Builder builder(executable.getContext());
  auto imports = alula::dispatch::collectDynamicImports(
      executable->getParentOfType<ModuleOp>());
  for (Operation &op : *clone->getBody())
    if (alula::dispatch::getImportKind(&op) ==
        alula::dispatch::ImportKind::Dynamic) {
      auto name = alula::dispatch::readImportName(
          SymbolTable::getSymbolName(&op).getValue());
      auto found = llvm::find_if(imports, [&](const auto &import) {
        return import.name == name.name;
      });
      op.setAttr("cpu.import",
                 builder.getI64IntegerAttr(found - imports.begin()));
    }
  for (auto entry : executable.getBody().getOps<EntryOp>()) {
    // A tool may have lowered it to the entry that the runtime calls.
    if (auto function = clone->lookupSymbol<func::FuncOp>(entry.getSymName()))
      function->setAttr("cpu.bindings",
                        builder.getI64IntegerAttr(
                            static_cast<int64_t>(entry.getBindings().size())));
  }
  return clone;
}

/// Gives every function a scope, and every op in it a line: what has none is
/// where its function is.
LogicalResult addLines(ModuleOp bodies) {
  bodies.walk([](LLVM::LLVMFuncOp function) {
    function.walk([&](Operation *op) {
      if (isa<UnknownLoc>(op->getLoc()))
        op->setLoc(function.getLoc());
    });
  });
  PassManager pm(bodies.getContext(), ModuleOp::getOperationName());
  pm.addPass(LLVM::createDIScopeForLLVMFuncOpPass());
  if (failed(pm.run(bodies)))
    return failure();
  // The pass takes the function's column for the line where its body begins.
  bodies.walk([](LLVM::LLVMFuncOp function) {
    auto location = dyn_cast<FusedLocWith<LLVM::DISubprogramAttr>>(
        Location(function.getLoc()));
    if (!location)
      return;
    LLVM::DISubprogramAttr was = location.getMetadata();
    auto is = LLVM::DISubprogramAttr::get(
        was.getContext(), was.getId(), was.getCompileUnit(), was.getScope(),
        was.getName(), was.getLinkageName(), was.getFile(), was.getLine(),
        /*scopeLine=*/was.getLine(), was.getSubprogramFlags(), was.getType());
    function->setLoc(
        FusedLoc::get(was.getContext(), location.getLocations(), is));
  });
  return success();
}

/// The bodies as code of LLVM; no code if objects have it all.
std::unique_ptr<llvm::Module> translate(ExecutableOp executable,
                                        const CpuPlan &plan, bool hasLines,
                                        llvm::LLVMContext &context) {
  if (plan.replacesBodies)
    return std::make_unique<llvm::Module>(executable.getSymName(), context);
  OwningOpRef<ModuleOp> bodies = cloneBodies(executable);
  if (!bodies->getOps<func::FuncOp>().empty()) {
    PassManager pm(executable.getContext(), ModuleOp::getOperationName());
    addLoweringPipeline(pm);
    if (failed(pm.run(*bodies)))
      return nullptr;
  }
  if (hasLines && failed(addLines(*bodies)))
    return nullptr;
  std::unique_ptr<llvm::Module> code =
      translateModuleToLLVMIR(*bodies, context, executable.getSymName());
  if (!code)
    executable.emitError()
        << "'dispatch.executable': can't be translated to LLVM: @"
        << executable.getSymName();
  return code;
}

/// An executable on its way to an object.
struct Work {
  ExecutableOp executable;
  CpuPlan plan;
  std::string object;
  /// Why there is none.
  std::string problem;
};

/// Threads that compile executables. What MLIR does is done by one at a time, in
/// the order of the executables; LLVM's part by all, each in a context of its
/// own.
class Compiler {
public:
  Compiler(llvm::MutableArrayRef<Work> all, const Machine &machine,
           const CodegenHooks &hooks)
      : all(all), machine(machine), hooks(hooks), key(getTargetKey(machine)) {}

  /// Whether all went well; of LLVM's problems nothing is said yet.
  LogicalResult run() {
    // Who listens hears of one kernel after the other.
    size_t wanted = hooks.onForm ? 1 : all.size();
    size_t count = std::min<size_t>(
        wanted, llvm::hardware_concurrency().compute_thread_count());
    std::vector<std::thread> threads;
    for (size_t i = 1; i < count; ++i)
      threads.emplace_back([this] { work(); });
    work();
    for (std::thread &thread : threads)
      thread.join();
    return success(!hasFailed);
  }

private:
  void work() {
    for (;;) {
      llvm::LLVMContext context;
      std::unique_ptr<llvm::Module> code;
      Work *work = take(context, code);
      if (!work)
        return;
      if (code)
        generate(*work, *code);
    }
  }

  /// The next executable as LLVM's code, which is null if it needs none; null
  /// if there is no other one.
  Work *take(llvm::LLVMContext &context, std::unique_ptr<llvm::Module> &code) {
    std::lock_guard lock(mutex);
    if (hasFailed || next == all.size())
      return nullptr;
    Work &work = all[next];
    // Said otherwise only at the end.
    hasFailed = true;
    if (hooks.isCancelled && hooks.isCancelled())
      return nullptr;
    if (hooks.onKernel)
      hooks.onKernel(work.executable.getSymName(), static_cast<unsigned>(next),
                     static_cast<unsigned>(all.size()));
    if (failed(plan(work)))
      return nullptr;
    if (!work.plan.replacesBodies || !work.plan.bitcode.empty()) {
      code = translate(work.executable, work.plan, hooks.debugLevel >= 2,
                       context);
      if (!code)
        return nullptr;
    }
    hasFailed = false;
    ++next;
    return &work;
  }

  LogicalResult plan(Work &work) {
    if (!work.executable.getObjects())
      return success();
    auto selected = alula::objects::selectObjects(work.executable, key);
    if (failed(selected))
      return failure();
    if (selected->empty())
      return success();
    auto planned = alula::objects::planCpuCode(work.executable, key, *selected,
                                               isBuiltin);
    if (failed(planned))
      return failure();
    work.plan = std::move(*planned);
    return success();
  }

  void generate(Work &work, llvm::Module &code) {
    if (auto error = linkBitcode(code, work.plan, machine)) {
      work.problem = llvm::toString(std::move(error));
      return;
    }
    OnForm onForm;
    if (hooks.onForm)
      onForm = [&](llvm::StringRef ending, llvm::StringRef bytes) {
        hooks.onForm(work.executable.getSymName(), ending, bytes);
      };
    auto object = generateObject(code, machine, hooks.isCancelled, onForm);
    if (object)
      work.object = std::move(*object);
    else
      work.problem = llvm::toString(object.takeError());
  }

  llvm::MutableArrayRef<Work> all;
  const Machine &machine;
  const CodegenHooks &hooks;
  alula::objects::TargetKey key;
  std::mutex mutex;
  size_t next = 0;
  bool hasFailed = false;
};

/// The objects of an executable, ours and those of others, each with names that
/// no other executable has.
LogicalResult collect(const Work &work, std::vector<std::string> &objects) {
  ExecutableOp executable = work.executable;
  auto report = [&](const std::string &problem) {
    return executable.emitError() << "'dispatch.executable': " << problem;
  };
  if (!work.problem.empty())
    return report(work.problem);
  std::vector<std::string> own;
  if (!work.object.empty())
    own.push_back(work.object);
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

alula::objects::TargetKey alula::cpu::getTargetKey(const Machine &machine) {
  auto has = [&](llvm::StringRef feature) {
    return llvm::is_contained(machine.features, feature);
  };
  int bytes = has("avx512f") ? 64 : has("avx2") ? 32 : 16;
  return {"cpu", machine.name, machine.target, machine.features, bytes};
}

bool alula::cpu::isBuiltin(const objects::TargetKey &key,
                           llvm::StringRef name) {
  auto machine = findMachine(key.name);
  if (!machine) {
    llvm::consumeError(machine.takeError());
    return false;
  }
  // Routines too, so that objects of our own can come back.
  auto object = name.starts_with("alula_")
                    ? getRoutineObject(*machine, name)
                    : getBuiltinsObject(*machine, {name.str()});
  if (!object) {
    llvm::consumeError(object.takeError());
    return false;
  }
  return !object->empty();
}

LogicalResult alula::cpu::generateVariant(ModuleOp module,
                                          const Machine &machine,
                                          const CodegenHooks &hooks) {
  std::vector<std::string> objects, entries;
  SmallVector<NamedAttribute> origins;
  std::vector<Work> works;
  for (auto executable : module.getOps<ExecutableOp>())
    works.push_back({executable, {}, {}, {}});
  bool allCompiled = succeeded(Compiler(works, machine, hooks).run());
  for (const Work &work : works)
    if (failed(collect(work, objects)))
      return failure();
  if (!allCompiled)
    return failure();
  for (Work &work : works) {
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
