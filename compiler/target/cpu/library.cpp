// Links the embedded bitcode of library/ into kernels.

#include "compiler/target/cpu/library.h"

#include "compiler/target/cpu/packed_bytes.h"
#include "compiler/target/cpu/precompiled.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Transforms/IPO/Internalize.h"

#include <functional>
#include <mutex>

using namespace alula::cpu;

#define ALULA_FOR_EACH_EMBEDDED(X)                                             \
  X(functions, x86_64)                                                         \
  X(functions, aarch64)                                                        \
  X(functions, riscv64)                                                        \
  X(library, x86_64)                                                           \
  X(library, aarch64)                                                          \
  X(library, riscv64)                                                          \
  X(library, nvptx64)                                                          \
  X(library, arm)                                                              \
  X(library, riscv32)                                                          \
  X(library, wasm32)                                                           \
  X(builtins, arm)                                                             \
  X(builtins, riscv32)                                                         \
  X(builtins, wasm32)                                                          \
  X(builtins, x86_64)                                                          \
  X(builtins, aarch64)                                                         \
  X(builtins, riscv64)

#define X(kind, target)                                                        \
  extern "C" const char alula_embedded_##kind##_##target##_begin[];            \
  extern "C" const char alula_embedded_##kind##_##target##_end[];
ALULA_FOR_EACH_EMBEDDED(X)
#undef X

namespace {
/// Unpacked when a kernel first needs it.
llvm::StringRef findBitcode(llvm::StringRef kind, llvm::StringRef target) {
#define X(kindName, targetName)                                                \
  if (kind == #kindName && target == #targetName) {                            \
    static const std::string bytes =                                           \
        unpackBytes(alula_embedded_##kindName##_##targetName##_begin,          \
                    alula_embedded_##kindName##_##targetName##_end);           \
    return bytes;                                                              \
  }
  ALULA_FOR_EACH_EMBEDDED(X)
#undef X
  return {};
}

/// The bitcode says nothing of the level of the machine: what is set for the
/// kernels has to hold for it too, or nothing is inlined.
void forgetMachine(llvm::Function &function) {
  function.removeFnAttr("target-cpu");
  function.removeFnAttr("target-features");
  function.removeFnAttr("use-soft-float");
  function.removeFnAttr("tune-cpu");
  function.removeFnAttr("min-legal-vector-width");
}

llvm::Expected<std::unique_ptr<llvm::Module>> parse(llvm::StringRef kind,
                                                    llvm::LLVMContext &context,
                                                    const Machine &machine) {
  llvm::StringRef bytes = findBitcode(kind, machine.target);
  if (bytes.empty())
    return llvm::createStringError("no kernel library for " + machine.target);
  // Bodies are read when they are linked.
  auto module = llvm::getLazyBitcodeModule({bytes, kind}, context,
                                           /*ShouldLazyLoadMetadata=*/true);
  if (module) {
    // One library is for several machines of an instruction set.
    (*module)->setTargetTriple(machine.triple);
    if (!machine.layout.empty())
      (*module)->setDataLayout(machine.layout);
    for (llvm::Function &function : **module)
      forgetMachine(function);
  }
  return module;
}

/// Facts of the machine that the C code asks for become constants.
void defineFacts(llvm::Module &module, const Machine &machine) {
  auto define = [&](llvm::StringRef name, int64_t value) {
    if (auto *fact = module.getGlobalVariable(name)) {
      fact->setInitializer(
          llvm::ConstantInt::get(fact->getValueType(), uint64_t(value)));
      fact->setConstant(true);
      fact->setLinkage(llvm::GlobalValue::InternalLinkage);
    }
  };
  define("alula_has_fma", machine.facts.hasFma);
  define("alula_vector_bytes", machine.facts.vectorBytes);
  define("alula_has_bf16_dot", machine.facts.bf16Dot);
  define("alula_has_int8_dot", machine.facts.int8Dot);
  define("alula_has_matrix_products", machine.facts.hasMatrixProducts);
}

/// Keeps the first error of the linker, which has no other way to say it.
struct FirstError : llvm::DiagnosticHandler {
  std::string &message;
  explicit FirstError(std::string &message) : message(message) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    if (info.getSeverity() == llvm::DS_Error && message.empty()) {
      llvm::raw_string_ostream os(message);
      llvm::DiagnosticPrinterRawOStream printer(os);
      info.print(printer);
    }
    return true;
  }
};

/// Adds to `module` what it declares and `source` defines; those names go to
/// `finish`.
llvm::Error
linkFrom(std::unique_ptr<llvm::Module> source, llvm::Module &module,
         std::function<void(llvm::Module &, const llvm::StringSet<> &)> finish =
             {}) {
  llvm::LLVMContext &context = module.getContext();
  std::string message;
  auto previous = context.getDiagnosticHandler();
  context.setDiagnosticHandler(std::make_unique<FirstError>(message));
  bool failed = llvm::Linker::linkModules(module, std::move(source),
                                          llvm::Linker::LinkOnlyNeeded,
                                          std::move(finish));
  context.setDiagnosticHandler(std::move(previous));
  if (failed)
    return llvm::createStringError("the kernel library doesn't link: " +
                                   message);
  return llvm::Error::success();
}

/// The same for code that runs: it knows the machine.
llvm::Error linkNeeded(
    llvm::Module &module, std::unique_ptr<llvm::Module> source,
    const Machine &machine,
    std::function<void(llvm::Module &, const llvm::StringSet<> &)> finish) {
  if (auto error = linkFrom(std::move(source), module, std::move(finish)))
    return error;
  defineFacts(module, machine);
  return llvm::Error::success();
}
} // namespace

namespace {
/// Told by the signature: it gets arrays and their sizes.
bool isRoutine(const llvm::Function &function) {
  if (function.isDeclaration() ||
      function.hasFnAttribute(llvm::Attribute::AlwaysInline))
    return false;
  auto hasArgument = [&](auto is) {
    return llvm::any_of(function.args(), [&](const llvm::Argument &argument) {
      return is(argument.getType());
    });
  };
  return hasArgument([](llvm::Type *type) { return type->isPointerTy(); }) &&
         hasArgument([](llvm::Type *type) { return type->isIntegerTy(64); });
}

/// All but what is called from outside may be inlined and dropped.
void internalize(llvm::Module &linked, const llvm::StringSet<> &names) {
  llvm::internalizeModule(linked, [&](const llvm::GlobalValue &value) {
    return !value.hasName() || !names.contains(value.getName());
  });
}
} // namespace

namespace {
/// What `module` declares and neither defines nor finds among the routines that
/// have been compiled, sorted.
std::vector<std::string> findNeeded(const llvm::Module &module,
                                    const Machine &machine) {
  std::vector<std::string> names;
  for (const llvm::Function &function : module)
    if (function.isDeclaration() && function.getName().starts_with("alula_") &&
        findPrecompiled(machine.name, function.getName()).empty())
      names.push_back(function.getName().str());
  llvm::sort(names);
  return names;
}

/// The library, or its functions of a number if those are all.
llvm::Expected<std::unique_ptr<llvm::Module>>
parseDefining(llvm::LLVMContext &context, const Machine &machine,
              llvm::ArrayRef<std::string> names) {
  if (!findBitcode("functions", machine.target).empty()) {
    auto functions = parse("functions", context, machine);
    if (!functions || llvm::all_of(names, [&](const std::string &name) {
          return (*functions)->getFunction(name);
        }))
      return functions;
  }
  return parse("library", context, machine);
}

/// Bitcode of the functions of `names` that are no routines, with all that they
/// call: reading the library takes longer than what is left for a small kernel.
llvm::Expected<std::string> extractPart(const Machine &machine,
                                        llvm::ArrayRef<std::string> names) {
  llvm::LLVMContext context;
  auto library = parseDefining(context, machine, names);
  if (!library)
    return library.takeError();
  auto part = std::make_unique<llvm::Module>("library", context);
  part->setTargetTriple((*library)->getTargetTriple());
  part->setDataLayout((*library)->getDataLayout());
  for (const std::string &name : names)
    if (llvm::Function *function = (*library)->getFunction(name);
        function && !isRoutine(*function))
      part->getOrInsertFunction(name, function->getFunctionType());
  if (auto error = linkFrom(std::move(*library), *part))
    return std::move(error);
  std::string bytes;
  llvm::raw_string_ostream os(bytes);
  llvm::WriteBitcodeToFile(*part, os);
  return bytes;
}

/// It is made once in a process for each list of names that some kernel has.
llvm::Expected<std::string> getPart(const Machine &machine,
                                    llvm::ArrayRef<std::string> names) {
  struct Parts {
    std::mutex mutex;
    llvm::StringMap<std::string> bytes;
  };
  // For ever: compilations may outlive static objects.
  static auto *const parts = new Parts;
  constexpr unsigned mostParts = 256;
  std::string key = machine.triple + " " + machine.layout;
  for (const std::string &name : names)
    key += " " + name;
  {
    std::lock_guard lock(parts->mutex);
    if (auto found = parts->bytes.find(key); found != parts->bytes.end())
      return found->second;
  }
  auto part = extractPart(machine, names);
  if (!part)
    return part.takeError();
  std::lock_guard lock(parts->mutex);
  if (parts->bytes.size() == mostParts)
    parts->bytes.clear();
  parts->bytes[key] = *part;
  return part;
}
} // namespace

llvm::Error alula::cpu::linkLibrary(llvm::Module &module,
                                    const Machine &machine) {
  std::vector<std::string> names = findNeeded(module, machine);
  if (names.empty())
    return llvm::Error::success();
  auto part = getPart(machine, names);
  if (!part)
    return part.takeError();
  auto functions =
      llvm::parseBitcodeFile({*part, "library"}, module.getContext());
  if (!functions)
    return functions.takeError();
  return linkNeeded(module, std::move(*functions), machine, internalize);
}

llvm::Error alula::cpu::linkWholeLibrary(llvm::Module &module,
                                         const Machine &machine) {
  auto library = parse("library", module.getContext(), machine);
  if (!library)
    return library.takeError();
  return linkNeeded(module, std::move(*library), machine, internalize);
}

bool alula::cpu::multipliesBytes(llvm::StringRef routine) {
  return routine.starts_with("alula_product_i8") ||
         routine.starts_with("alula_product_ui8") ||
         (routine.starts_with("alula_") && routine.contains("rounded_"));
}

llvm::Expected<std::vector<std::string>>
alula::cpu::listRoutines(const Machine &machine) {
  llvm::LLVMContext context;
  auto library = parse("library", context, machine);
  if (!library)
    return library.takeError();
  std::vector<std::string> names;
  for (const llvm::Function &function : **library)
    if (isRoutine(function) && !function.hasLocalLinkage())
      names.push_back(function.getName().str());
  llvm::sort(names);
  return names;
}

llvm::Expected<std::unique_ptr<llvm::Module>>
alula::cpu::loadRoutine(llvm::LLVMContext &context, const Machine &machine,
                        llvm::StringRef name) {
  auto library = parse("library", context, machine);
  if (!library)
    return library.takeError();
  llvm::Function *function = (*library)->getFunction(name);
  if (!function || !isRoutine(*function))
    return nullptr;
  auto module = std::make_unique<llvm::Module>("routine", context);
  module->setTargetTriple((*library)->getTargetTriple());
  module->setDataLayout((*library)->getDataLayout());
  module->getOrInsertFunction(name, function->getFunctionType());
  if (auto error =
          linkNeeded(*module, std::move(*library), machine,
                     [&](llvm::Module &linked, const llvm::StringSet<> &names) {
                       llvm::StringSet<> inner = names;
                       inner.erase(name);
                       internalize(linked, inner);
                     }))
    return std::move(error);
  return module;
}

llvm::Expected<std::unique_ptr<llvm::Module>>
alula::cpu::loadBuiltins(llvm::LLVMContext &context, const Machine &machine,
                         llvm::ArrayRef<std::string> names) {
  auto source = parse("builtins", context, machine);
  if (!source)
    return source.takeError();
  auto module = std::make_unique<llvm::Module>("builtins", context);
  module->setTargetTriple((*source)->getTargetTriple());
  module->setDataLayout((*source)->getDataLayout());
  for (const std::string &name : names)
    if (llvm::Function *function = (*source)->getFunction(name))
      module->getOrInsertFunction(name, function->getFunctionType());
  if (auto error = linkNeeded(*module, std::move(*source), machine,
                              [](llvm::Module &, const llvm::StringSet<> &) {}))
    return std::move(error);
  return module;
}

llvm::Expected<std::vector<std::string>>
alula::cpu::findUndefined(llvm::StringRef object) {
  auto file = llvm::object::ObjectFile::createObjectFile({object, "kernels"});
  if (!file)
    return file.takeError();
  std::vector<std::string> names;
  for (const llvm::object::SymbolRef &symbol : (*file)->symbols()) {
    auto flags = symbol.getFlags();
    if (!flags)
      return flags.takeError();
    auto name = symbol.getName();
    if (!name)
      return name.takeError();
    if ((*flags & llvm::object::SymbolRef::SF_Undefined) && !name->empty())
      names.push_back(name->str());
  }
  llvm::sort(names);
  return names;
}
