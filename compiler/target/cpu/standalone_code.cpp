// Every executable, the host, and what they call of the kernel library are
// optimized as for an image, each by itself: the numbers are the same. Then
// they become one module, of which nothing is seen but what C calls, so that
// two programs fit into one, on every kind of machine.

#include "compiler/target/cpu/standalone_code.h"

#include "compiler/target/cpu/compile_executables.h"
#include "compiler/target/cpu/library.h"
#include "compiler/target/cpu/object_code.h"
#include "compiler/target/cpu/pipeline.h"
#include "compiler/target/cpu/restore_pointers.h"
#include "compiler/target/cpu/stack_bound.h"
#include "dialect/dispatch/ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace mlir;
using namespace alula::cpu;
using alula::dispatch::ExecutableOp;

namespace {
class Generator {
public:
  Generator(ModuleOp module, const StandaloneOptions &options,
            const Machine &machine, llvm::LLVMContext &context,
            const CodegenHooks &hooks)
      : module(module), options(options), machine(machine), context(context),
        hooks(hooks),
        lowering(module.getContext(), ModuleOp::getOperationName()),
        exported(options.exported) {
    lowering.enableVerifier(hooks.verifyPasses);
    addLoweringPipeline(lowering,
                        static_cast<unsigned>(machine.facts.indexBits));
  }

  FailureOr<StandaloneCode> run(ModuleOp host) {
    if (failed(addAll(host)))
      return failure();
    auto code = finish();
    if (!code)
      return fail(code.takeError());
    return std::move(*code);
  }

  FailureOr<std::unique_ptr<llvm::Module>> makeModule(
      ModuleOp host,
      llvm::function_ref<std::vector<std::string>(llvm::Module &)> findNeeded) {
    if (failed(addAll(host)))
      return failure();
    if (auto problem = linkRoutines())
      return fail(std::move(problem));
    hideAll(*whole);
    std::vector<std::string> builtins;
    while (true) {
      auto with = addBuiltins(builtins);
      if (!with)
        return fail(with.takeError());
      size_t known = builtins.size();
      addNames(builtins, findNeeded(**with));
      if (builtins.size() == known)
        return std::move(*with);
    }
  }

private:
  LogicalResult fail(llvm::Error problem) {
    return module.emitError()
           << "'builtin.module': " << llvm::toString(std::move(problem));
  }

  /// Host and kernels, optimized.
  LogicalResult addAll(ModuleOp host) {
    if (failed(add(host, "host")))
      return failure();
    unsigned done = 0;
    auto executables = llvm::to_vector(module.getOps<ExecutableOp>());
    for (ExecutableOp executable : executables) {
      if (hooks.isCancelled && hooks.isCancelled())
        return failure();
      if (hooks.onKernel)
        hooks.onKernel(executable.getSymName(), done++,
                       static_cast<unsigned>(executables.size()));
      OwningOpRef<ModuleOp> bodies = cloneBodies(executable);
      for (auto function : bodies->getOps<func::FuncOp>())
        if (function->hasAttr("cpu.bindings")) {
          function->removeAttr("cpu.bindings");
          function->setAttr("cpu.direct", UnitAttr::get(module.getContext()));
        }
      if (failed(add(*bodies, executable.getSymName())))
        return failure();
    }
    return success();
  }

  /// Lowers, optimizes and links a part of the program.
  LogicalResult add(ModuleOp part, StringRef name) {
    if (failed(lowering.run(part)))
      return failure();
    std::unique_ptr<llvm::Module> code =
        translateModuleToLLVMIR(part, context, name);
    if (!code)
      return module.emitError()
             << "'builtin.module': can't be translated to LLVM: " << name;
    if (machine.facts.isText)
      restorePointers(*code);
    llvm::Error problem = optimizeProgram(*code, machine);
    if (!problem)
      problem = link(std::move(code));
    if (problem)
      return fail(std::move(problem));
    return success();
  }

  llvm::Error link(std::unique_ptr<llvm::Module> part) {
    if (!whole) {
      whole = std::move(part);
      return llvm::Error::success();
    }
    if (llvm::Linker::linkModules(*whole, std::move(part)))
      return llvm::createStringError("code without a runtime doesn't link");
    return llvm::Error::success();
  }

  /// Routines of the library, which may call others.
  llvm::Error linkRoutines() {
    for (bool isNew = true; isNew;) {
      isNew = false;
      std::vector<std::string> names;
      for (const llvm::Function &function : *whole)
        if (function.isDeclaration() &&
            function.getName().starts_with("alula_"))
          names.push_back(function.getName().str());
      for (const std::string &name : names) {
        auto routine = loadRoutine(context, machine, name);
        if (!routine)
          return routine.takeError();
        if (!*routine)
          continue;
        if (auto problem = optimizeLibrary(**routine, machine))
          return problem;
        if (auto problem = link(std::move(*routine)))
          return problem;
        isNew = true;
      }
    }
    return llvm::Error::success();
  }

  void hideAll(llvm::Module &code) {
    // LLVM's own, such as the list of what is used, are none of the program's.
    for (llvm::GlobalValue &value : code.global_values())
      if (!value.isDeclaration() && !value.hasLocalLinkage() &&
          !value.getName().starts_with("llvm.") &&
          !exported.contains(value.getName()))
        value.setLinkage(llvm::GlobalValue::InternalLinkage);
    llvm::ModuleAnalysisManager analyses;
    llvm::GlobalDCEPass().run(code, analyses);
  }

  /// The whole program with builtins, which the code generator calls by name:
  /// names of the same module, though nothing before it speaks of them.
  llvm::Expected<std::unique_ptr<llvm::Module>>
  addBuiltins(const std::vector<std::string> &names) {
    auto code = llvm::CloneModule(*whole);
    auto builtins = loadBuiltins(context, machine, names);
    if (!builtins)
      return builtins.takeError();
    std::vector<std::string> defined;
    for (const llvm::Function &function : **builtins)
      if (!function.isDeclaration() && !function.hasLocalLinkage())
        defined.push_back(function.getName().str());
    if (auto problem = optimizeLibrary(**builtins, machine))
      return std::move(problem);
    if (llvm::Linker::linkModules(*code, std::move(*builtins)))
      return llvm::createStringError("builtins don't link");
    llvm::SmallVector<llvm::GlobalValue *> used;
    for (const std::string &name : defined)
      if (auto *function = code->getFunction(name)) {
        function->setLinkage(llvm::GlobalValue::InternalLinkage);
        used.push_back(function);
      }
    llvm::appendToCompilerUsed(*code, used);
    hideAll(*code);
    return code;
  }

  static void addNames(std::vector<std::string> &names,
                       const std::vector<std::string> &more) {
    names.insert(names.end(), more.begin(), more.end());
    llvm::sort(names);
    names.erase(std::unique(names.begin(), names.end()), names.end());
  }

  llvm::Expected<StandaloneCode> finish() {
    if (auto problem = linkRoutines())
      return std::move(problem);
    hideAll(*whole);
    StandaloneCode code;
    std::vector<std::string> builtins;
    std::unique_ptr<llvm::Module> last;
    for (size_t known = SIZE_MAX; known != builtins.size();) {
      known = builtins.size();
      auto with = addBuiltins(builtins);
      if (!with)
        return with.takeError();
      last = std::move(*with);
      // The code generator leaves its marks on what it gets.
      auto object = emitObject(*llvm::CloneModule(*last), machine);
      if (!object)
        return object.takeError();
      code.object = std::move(*object);
      auto undefined = findUndefined(code.object);
      if (!undefined)
        return undefined.takeError();
      // WebAssembly's linker has the stack itself.
      llvm::erase(*undefined, "__stack_pointer");
      code.undefined = std::move(*undefined);
      addNames(builtins, code.undefined);
    }
    auto stack = findStackBound(*last, machine);
    if (!stack)
      return stack.takeError();
    code.stackBytes = *stack;
    if (auto problem = check(code))
      return std::move(problem);
    return code;
  }

  /// That it is what was promised: no state of its own, nothing from outside.
  llvm::Error check(StandaloneCode &code) {
    auto file =
        llvm::object::ObjectFile::createObjectFile({code.object, "standalone"});
    if (!file)
      return file.takeError();
    for (const llvm::object::SectionRef &section : (*file)->sections()) {
      auto name = section.getName();
      if (!name)
        return name.takeError();
      if (section.isText())
        code.codeBytes += section.getSize();
      else if (name->starts_with(".rodata") || *name == "DATA")
        code.constantBytes += section.getSize();
      else if (section.getSize() &&
               (section.isBSS() || name->starts_with(".data") ||
                name->starts_with(".init_array") ||
                name->starts_with(".tdata")))
        return llvm::createStringError(
            "code without a runtime must have no memory of its own: has " +
            *name);
    }
    bool isOwn = llvm::all_of(code.undefined, [](const std::string &name) {
      return llvm::StringRef(name).starts_with("__");
    });
    if (!code.undefined.empty() && !(options.allowsCompilerRt && isOwn))
      return llvm::createStringError(
          "code for " + machine.name +
          " without a runtime calls functions that it has not: " +
          llvm::join(code.undefined, ", ") +
          (isOwn ? ": --allow-compiler-rt leaves them to the C compiler's "
                   "library"
                 : ""));
    return llvm::Error::success();
  }

  ModuleOp module;
  const StandaloneOptions &options;
  const Machine &machine;
  llvm::LLVMContext &context;
  const CodegenHooks &hooks;
  PassManager lowering;
  llvm::StringSet<> exported;
  std::unique_ptr<llvm::Module> whole;
};
} // namespace

FailureOr<StandaloneCode> alula::cpu::generateStandalone(
    ModuleOp module, ModuleOp host, const StandaloneOptions &options,
    const Machine &machine, const CodegenHooks &hooks) {
  llvm::LLVMContext context;
  return Generator(module, options, machine, context, hooks).run(host);
}

FailureOr<std::unique_ptr<llvm::Module>> alula::cpu::makeStandaloneModule(
    ModuleOp module, ModuleOp host, const StandaloneOptions &options,
    const Machine &machine, llvm::LLVMContext &context,
    llvm::function_ref<std::vector<std::string>(llvm::Module &)> findNeeded,
    const CodegenHooks &hooks) {
  return Generator(module, options, machine, context, hooks)
      .makeModule(host, findNeeded);
}

llvm::Expected<std::string> alula::cpu::makeArchive(llvm::StringRef member,
                                                    llvm::StringRef object) {
  auto buffer = llvm::MemoryBuffer::getMemBuffer(
      object, member, /*RequiresNullTerminator=*/false);
  std::vector<llvm::NewArchiveMember> members;
  members.emplace_back(buffer->getMemBufferRef());
  auto archive = llvm::writeArchiveToBuffer(
      members, llvm::SymtabWritingMode::NormalSymtab,
      llvm::object::Archive::K_GNU, /*Deterministic=*/true, /*Thin=*/false);
  if (!archive)
    return archive.takeError();
  return (*archive)->getBuffer().str();
}
