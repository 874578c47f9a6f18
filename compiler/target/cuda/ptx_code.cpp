// LLVM's optimizer and code generator for PTX.

#include "compiler/target/cuda/ptx_code.h"

#include "compiler/target/cpu/library.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <mutex>

using namespace alula::cuda;

namespace {
std::unique_ptr<llvm::TargetMachine>
createTargetMachine(const alula::cpu::Machine &machine, std::string &error) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(machine.triple, error);
  if (!target)
    return nullptr;
  llvm::TargetOptions options;
  // Only operations that say so are fused, as on the CPU.
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      machine.triple, machine.cpu, machine.extra, options, std::nullopt,
      std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}

void annotate(llvm::Function &function, llvm::StringRef name, int64_t value) {
  llvm::LLVMContext &context = function.getContext();
  auto *type = llvm::Type::getInt32Ty(context);
  function.getParent()
      ->getOrInsertNamedMetadata("nvvm.annotations")
      ->addOperand(llvm::MDNode::get(
          context, {llvm::ValueAsMetadata::get(&function),
                    llvm::MDString::get(context, name),
                    llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(
                        type, static_cast<uint64_t>(value)))}));
}

/// Of every binding (artifact/SPEC.md): of the widest access.
constexpr uint64_t bindingAlignment = 16;

void markKernel(llvm::Function &function, const PtxKernel &kernel) {
  function.setName(getPtxName(kernel.name));
  function.setLinkage(llvm::GlobalValue::ExternalLinkage);
  function.setVisibility(llvm::GlobalValue::DefaultVisibility);
  function.setCallingConv(llvm::CallingConv::PTX_Kernel);
  // No binding that is written shares memory with another one. But what threads
  // write that wait for each other changes at a barrier, which LLVM would not
  // believe of memory that has no other name.
  bool waits = llvm::any_of(
      llvm::instructions(function), [](const llvm::Instruction &instruction) {
        auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction);
        return call && call->getCalledFunction() &&
               call->getCalledFunction()->getName() == "alula_block_wait";
      });
  constexpr unsigned maxDistinct = 64;
  for (auto [number, isOnlyRead] : llvm::enumerate(kernel.areOnlyRead)) {
    llvm::Argument *argument = function.getArg(static_cast<unsigned>(number));
    argument->addAttr(llvm::Attribute::getWithAlignment(
        function.getContext(), llvm::Align(bindingAlignment)));
    if (isOnlyRead)
      argument->addAttr(llvm::Attribute::ReadOnly);
    if (isOnlyRead || (!waits && kernel.areOnlyRead.size() <= maxDistinct))
      argument->addAttr(llvm::Attribute::NoAlias);
  }
  annotate(function, "kernel", 1);
  annotate(function, "reqntidx", kernel.threads);
  annotate(function, "reqntidy", 1);
  annotate(function, "reqntidz", 1);
}

/// Whether ptxas is to give a kernel all registers. It keeps some for more
/// blocks at once, and spills for that. What is long, calls functions that are,
/// or multiplies tiles computes more than it waits for memory.
bool needsRegisters(const llvm::Function &function) {
  constexpr unsigned longKernel = 600;
  auto computes = [](const llvm::Instruction &instruction) {
    auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    if (!call)
      return false;
    if (auto *code = llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand()))
      return code->getAsmString().find("mma.sync") != std::string::npos ||
             code->getAsmString().find("wgmma") != std::string::npos;
    const llvm::Function *callee = call->getCalledFunction();
    return callee && !callee->isDeclaration();
  };
  return function.getInstructionCount() > longKernel ||
         llvm::any_of(llvm::instructions(function), computes);
}

/// What a variable of a block may have; more, a launch has to ask for, and the
/// text only has a name for it.
constexpr uint64_t mostStaticBytes = 48 << 10;

/// Whether a kernel has the value in its code; what others have, all may call.
bool isUsedBy(const llvm::Value &value, const llvm::Function &kernel) {
  return llvm::any_of(value.users(), [&](const llvm::User *user) {
    auto *instruction = llvm::dyn_cast<llvm::Instruction>(user);
    if (!instruction)
      return isUsedBy(*user, kernel);
    const llvm::Function *home = instruction->getFunction();
    return home == &kernel ||
           home->getCallingConv() != llvm::CallingConv::PTX_Kernel;
  });
}

llvm::Error askForMemory(llvm::Module &module,
                         llvm::MutableArrayRef<PtxKernel> kernels) {
  constexpr unsigned shared = 3;
  for (llvm::GlobalVariable &variable :
       llvm::make_early_inc_range(module.globals())) {
    uint64_t bytes =
        module.getDataLayout().getTypeAllocSize(variable.getValueType());
    if (variable.getAddressSpace() != shared || bytes <= mostStaticBytes)
      continue;
    for (PtxKernel &kernel : kernels) {
      if (!isUsedBy(variable, *module.getFunction(getPtxName(kernel.name))))
        continue;
      if (kernel.sharedBytes)
        return llvm::createStringError(
            "a kernel asks twice for memory of its blocks");
      kernel.sharedBytes = static_cast<int64_t>(bytes);
    }
    auto *name = new llvm::GlobalVariable(
        module,
        llvm::ArrayType::get(llvm::Type::getInt8Ty(module.getContext()), 0),
        /*isConstant=*/false, llvm::GlobalValue::ExternalLinkage,
        /*Initializer=*/nullptr, "", /*InsertBefore=*/nullptr,
        llvm::GlobalValue::NotThreadLocal, shared);
    name->setAlignment(variable.getAlign());
    name->takeName(&variable);
    variable.replaceAllUsesWith(name);
    variable.eraseFromParent();
  }
  return llvm::Error::success();
}

void optimize(llvm::Module &module, llvm::TargetMachine &targetMachine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager calls;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&targetMachine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(calls);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, calls, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2)
      .run(module, modules);
}
} // namespace

std::string alula::cuda::getPtxName(llvm::StringRef kernel) {
  std::string name;
  for (char c : kernel) {
    bool isPlain = llvm::isAlnum(c) || c == '_';
    if (isPlain && !(name.empty() && llvm::isDigit(c)))
      name += c;
    else
      name += "$" + llvm::toHex(llvm::StringRef(&c, 1), /*LowerCase=*/true);
  }
  return name;
}

llvm::Expected<std::string>
alula::cuda::generatePtx(llvm::Module &module, const cpu::Machine &machine,
                         llvm::MutableArrayRef<PtxKernel> kernels) {
  std::string error;
  auto targetMachine = createTargetMachine(machine, error);
  if (!targetMachine)
    return llvm::createStringError(error);
  module.setTargetTriple(machine.triple);
  module.setDataLayout(targetMachine->createDataLayout());
  if (auto problem = cpu::linkWholeLibrary(module, machine))
    return std::move(problem);
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("no-builtins");
    function.addFnAttr("target-cpu", machine.cpu);
    function.addFnAttr("target-features", machine.extra);
    function.addFnAttr(llvm::Attribute::NoUnwind);
    function.setVisibility(llvm::GlobalValue::DefaultVisibility);
    function.setDSOLocal(false);
  }
  for (const PtxKernel &kernel : kernels)
    markKernel(*module.getFunction(kernel.name), kernel);
  optimize(module, *targetMachine);
  if (auto problem = askForMemory(module, kernels))
    return std::move(problem);
  for (const llvm::Function &function : module)
    if (function.isDeclaration() && !function.isIntrinsic() &&
        !function.use_empty())
      return llvm::createStringError(
          "no native code: nothing on a GPU is called '" + function.getName() +
          "'");
  // The code generator remembers what modules said of kernels when it was first
  // asked: another module says more.
  std::unique_ptr<llvm::Module> finished = llvm::CloneModule(module);
  for (const PtxKernel &kernel : kernels)
    if (llvm::Function &function =
            *finished->getFunction(getPtxName(kernel.name));
        needsRegisters(function))
      annotate(function, "minctasm", 1);
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream os(text);
  llvm::legacy::PassManager codegen;
  if (targetMachine->addPassesToEmitFile(codegen, os, nullptr,
                                         llvm::CodeGenFileType::AssemblyFile))
    return llvm::createStringError("no PTX for " + machine.cpu);
  codegen.run(*finished);
  return std::string(text);
}
