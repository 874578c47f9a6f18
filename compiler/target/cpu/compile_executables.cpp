// Each executable is cloned, lowered and compiled to an object.

#include "compiler/target/cpu/compile_executables.h"

#include "compiler/target/cpu/link_bitcode.h"
#include "compiler/target/cpu/object_code.h"
#include "compiler/target/cpu/pipeline.h"
#include "compiler/target/cpu/target_key.h"
#include "dialect/dispatch/imports.h"

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
#include <optional>
#include <thread>

using namespace mlir;
using namespace alula::cpu;
using alula::dispatch::EntryOp;
using alula::dispatch::ExecutableOp;
using alula::objects::CpuPlan;

OwningOpRef<ModuleOp> alula::cpu::cloneBodies(ExecutableOp executable) {
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

namespace {
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
                                        PassManager &lowering,
                                        llvm::LLVMContext &context) {
  if (plan.replacesBodies)
    return std::make_unique<llvm::Module>(executable.getSymName(), context);
  OwningOpRef<ModuleOp> bodies = cloneBodies(executable);
  if (!bodies->getOps<func::FuncOp>().empty() && failed(lowering.run(*bodies)))
    return nullptr;
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

/// Threads that compile executables. What MLIR does is done by one at a time,
/// in the order of the executables; LLVM's part by all, each in a context of
/// its own.
class Compiler {
public:
  Compiler(llvm::MutableArrayRef<CompiledExecutable> all,
           const Machine &machine, const CodegenHooks &hooks)
      : all(all), machine(machine), hooks(hooks), key(getTargetKey(machine)) {
    if (all.empty())
      return;
    // One for all: collecting patterns takes as long as applying them.
    ExecutableOp first = all.front().executable;
    lowering.emplace(first.getContext(), ModuleOp::getOperationName());
    lowering->enableVerifier(hooks.verifyPasses);
    addLoweringPipeline(*lowering,
                        static_cast<unsigned>(machine.facts.indexBits));
  }

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
      CompiledExecutable *work = take(context, code);
      if (!work)
        return;
      if (code)
        generate(*work, *code);
    }
  }

  /// The next executable as LLVM's code, which is null if it needs none; null
  /// if there is no other one.
  CompiledExecutable *take(llvm::LLVMContext &context,
                           std::unique_ptr<llvm::Module> &code) {
    std::lock_guard lock(mutex);
    if (hasFailed || next == all.size())
      return nullptr;
    CompiledExecutable &work = all[next];
    hasFailed = failed(prepare(work, context, code));
    if (hasFailed)
      return nullptr;
    ++next;
    return &work;
  }

  LogicalResult prepare(CompiledExecutable &work, llvm::LLVMContext &context,
                        std::unique_ptr<llvm::Module> &code) {
    if (hooks.isCancelled && hooks.isCancelled())
      return failure();
    if (hooks.onKernel)
      hooks.onKernel(work.executable.getSymName(), static_cast<unsigned>(next),
                     static_cast<unsigned>(all.size()));
    if (failed(plan(work)))
      return failure();
    if (work.plan.replacesBodies && work.plan.bitcode.empty())
      return success();
    code = translate(work.executable, work.plan, hooks.debugLevel >= 2,
                     *lowering, context);
    return success(code != nullptr);
  }

  LogicalResult plan(CompiledExecutable &work) {
    if (!work.executable.getObjects())
      return success();
    auto selected = alula::objects::selectObjects(work.executable, key);
    if (failed(selected))
      return failure();
    if (selected->empty())
      return success();
    auto planned =
        alula::objects::planCpuCode(work.executable, key, *selected, isBuiltin);
    if (failed(planned))
      return failure();
    work.plan = std::move(*planned);
    return success();
  }

  void generate(CompiledExecutable &work, llvm::Module &code) {
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

  llvm::MutableArrayRef<CompiledExecutable> all;
  const Machine &machine;
  const CodegenHooks &hooks;
  alula::objects::TargetKey key;
  std::optional<PassManager> lowering;
  std::mutex mutex;
  size_t next = 0;
  bool hasFailed = false;
};
} // namespace

LogicalResult
alula::cpu::compileExecutables(llvm::MutableArrayRef<CompiledExecutable> all,
                               const Machine &machine,
                               const CodegenHooks &hooks) {
  return Compiler(all, machine, hooks).run();
}
