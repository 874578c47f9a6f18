#include "compiler/driver/static_output.h"

#include "compiler/driver/contexts.h"
#include "compiler/standalone/blob.h"
#include "compiler/standalone/header.h"
#include "compiler/standalone/host.h"
#include "compiler/target/c/write_c.h"
#include "compiler/target/cpu/link_image.h"
#include "compiler/target/cpu/standalone_code.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

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
  if (options.outputForm != OutputForm::C &&
      target.split(':').second.split(':').first == "c99")
    return module.emitError() << "'builtin.module': there is no machine code "
                                 "for cpu:c99, only --emit=c";
  if (options.outputForm == OutputForm::Blob &&
      target.split(':').second.split(':').first == "wasm32")
    return module.emitError() << "'builtin.module': there are no blobs for "
                                 "cpu:wasm32, whose code can't be data: "
                                 "--emit=static";
  if (options.executableOnly)
    return module.emitError() << "'builtin.module': --executable-only has no "
                                 "host code, which --emit=static calls";
  return success();
}

/// Machine code in one piece.
static LogicalResult
addBlob(ModuleOp module, ModuleOp host, const standalone::Program &program,
        const cpu::StandaloneOptions &options, const cpu::Machine &machine,
        const cpu::CodegenHooks &hooks, standalone::CodeFacts &facts,
        std::vector<OutputFile> &files) {
  auto fail = [&](llvm::Error problem) {
    return module.emitError()
           << "'builtin.module': " << llvm::toString(std::move(problem));
  };
  auto made = cpu::generateStandalone(module, host, options, machine, hooks);
  if (failed(made))
    return failure();
  auto image = cpu::linkMovable(made->object, options.exported, machine);
  if (!image)
    return fail(image.takeError());
  facts.codeBytes = made->codeBytes;
  facts.constantBytes = made->constantBytes;
  facts.stackBytes = made->stackBytes;
  auto blob = standalone::writeBlob(
      program, facts, machine.target,
      {std::move(image->bytes), std::move(image->entries), image->alignment});
  if (!blob)
    return fail(blob.takeError());
  files.push_back({".blob", std::move(*blob)});
  return success();
}

/// Machine code in an archive.
static LogicalResult
addArchive(ModuleOp module, ModuleOp host, const standalone::Program &program,
           const cpu::StandaloneOptions &options, const cpu::Machine &machine,
           const cpu::CodegenHooks &hooks, standalone::CodeFacts &facts,
           std::vector<OutputFile> &files) {
  auto made = cpu::generateStandalone(module, host, options, machine, hooks);
  if (failed(made))
    return failure();
  auto archive = cpu::makeArchive(program.prefix + ".o", made->object);
  if (!archive)
    return module.emitError()
           << "'builtin.module': " << llvm::toString(archive.takeError());
  facts.undefined = made->undefined;
  facts.codeBytes = made->codeBytes;
  facts.constantBytes = made->constantBytes;
  facts.stackBytes = made->stackBytes;
  files.push_back({".a", std::move(*archive)});
  return success();
}

/// What others call, as the header declares it.
static std::vector<c::Exported>
listExported(const standalone::Program &program) {
  std::vector<c::Exported> all;
  bool hasState = program.stateBytes;
  for (const standalone::Function &function : program.functions) {
    if (!function.isExported)
      continue;
    c::Exported each{function.symbol, "void *p0", {-1}};
    auto addPointers = [&](StringRef type, size_t count) {
      each.parameters += ", " + type.str() + " p" +
                         std::to_string(each.pointers.size()) + "[]";
      each.pointers.push_back(static_cast<int64_t>(count));
    };
    if (hasState) {
      each.parameters += ", void *p1";
      each.pointers.push_back(-1);
    }
    addPointers("const void *const", function.inputs.size());
    addPointers("void *const", function.outputs.size());
    all.push_back(std::move(each));
  }
  if (hasState)
    all.push_back({program.prefix + "_reset", "void *p0", {-1}});
  return all;
}

/// C for another compiler.
static LogicalResult
addText(ModuleOp module, ModuleOp host, const standalone::Program &program,
        const cpu::StandaloneOptions &options, const cpu::Machine &machine,
        const cpu::CodegenHooks &hooks, standalone::CodeFacts &facts,
        std::vector<OutputFile> &files) {
  llvm::LLVMContext context;
  auto made = cpu::makeStandaloneModule(
      module, host, options, machine, context,
      [](llvm::Module &code) {
        c::prepare(code);
        return c::listNeeded(code);
      },
      hooks);
  if (failed(made))
    return failure();
  auto text = c::writeC(**made, listExported(program));
  if (!text)
    return module.emitError()
           << "'builtin.module': " << llvm::toString(text.takeError());
  facts.machine = "any machine";
  facts.triple = "";
  facts.features = {};
  facts.undefined = text->undefined;
  facts.constantBytes = program.constantBytes;
  files.push_back({".c", "/* " + program.prefix + ": made by " +
                             facts.compiler + ". */\n" + text->code});
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
  standalone::CodeFacts facts;
  facts.machine = machine->name;
  facts.triple = machine->triple;
  facts.compiler = compilerVersion.str();
  facts.options = description;
  facts.inputHash = options.record.inputHash;
  facts.features = machine->features;
  bool isBlob = options.outputForm == OutputForm::Blob;
  machine->isMovable = isBlob;
  auto add = options.outputForm == OutputForm::C ? addText
             : isBlob                            ? addBlob
                                                 : addArchive;
  if (failed(add(module, *host, program, code, *machine, hooks, facts, files)))
    return failure();
  // Who loads a blob asks it for its sizes.
  if (!isBlob)
    files.push_back({".h", standalone::writeHeader(program, facts)});
  files.push_back({".json", standalone::writeManifest(program, facts)});
  return success();
}
