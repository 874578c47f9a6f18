#include "compiler/driver/static_output.h"

#include "compiler/driver/contexts.h"
#include "compiler/standalone/header.h"
#include "compiler/standalone/host.h"
#include "compiler/target/cpu/standalone_code.h"

using namespace mlir;
using namespace alula;
using namespace alula::driver;

/// What --emit=static has no answer to.
static LogicalResult refuseOthers(ModuleOp module,
                                  const CompileOptions &options) {
  StringRef target = options.targets.front();
  if (!target.starts_with("cpu:"))
    return module.emitError()
           << "'builtin.module': --emit=static is for processors: is for '"
           << target << "'";
  if (options.executableOnly)
    return module.emitError() << "'builtin.module': --executable-only has no "
                                 "host code, which --emit=static calls";
  return success();
}

LogicalResult alula::driver::emitStatic(
    ModuleOp module, const CompileOptions &options,
    const std::string &description,
    std::function<void(StringRef, unsigned, unsigned)> onKernel,
    std::vector<OutputFile> &files) {
  if (failed(refuseOthers(module, options)))
    return failure();
  auto machine =
      cpu::findMachine(StringRef(options.targets.front()).split(':').second);
  if (!machine)
    return module.emitError()
           << "'builtin.module': " << llvm::toString(machine.takeError());
  standalone::Program program;
  standalone::Options wishes{
      options.symbolPrefix.empty() ? "net" : options.symbolPrefix,
      options.arenaBudget};
  OwningOpRef<ModuleOp> host = standalone::makeHost(module, wishes, program);
  if (!host)
    return failure();
  cpu::StandaloneOptions code;
  code.allowsCompilerRt = options.allowsCompilerRt;
  for (const standalone::Function &function : program.functions)
    if (function.isExported)
      code.exported.push_back(function.symbol);
  if (program.stateBytes)
    code.exported.push_back(program.prefix + "_reset");
  cpu::CodegenHooks hooks;
  hooks.isCancelled = options.isCancelled;
  hooks.onKernel = std::move(onKernel);
  hooks.verifyPasses = options.verifyStages;
  auto made = cpu::generateStandalone(module, *host, code, *machine, hooks);
  if (failed(made))
    return failure();
  auto archive = cpu::makeArchive(program.prefix + ".o", made->object);
  if (!archive)
    return module.emitError()
           << "'builtin.module': " << llvm::toString(archive.takeError());
  standalone::CodeFacts facts;
  facts.machine = machine->name;
  facts.triple = machine->triple;
  facts.compiler = compilerVersion.str();
  facts.options = description;
  facts.inputHash = options.record.inputHash;
  facts.features = machine->features;
  facts.undefined = made->undefined;
  facts.codeBytes = made->codeBytes;
  facts.constantBytes = made->constantBytes;
  facts.stackBytes = made->stackBytes;
  files.push_back({".a", std::move(*archive)});
  files.push_back({".h", standalone::writeHeader(program, facts)});
  files.push_back({".json", standalone::writeManifest(program, facts)});
  return success();
}
