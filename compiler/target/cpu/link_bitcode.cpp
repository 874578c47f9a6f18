#include "compiler/target/cpu/link_bitcode.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"

using namespace alula::cpu;

/// What it was compiled for does not matter: it will run where the kernel does.
static void forgetMachine(llvm::Function &function) {
  for (const char *name :
       {"target-cpu", "target-features", "tune-cpu", "min-legal-vector-width"})
    function.removeFnAttr(name);
  // Made without optimization, it may be optimized all the same.
  function.removeFnAttr(llvm::Attribute::OptimizeNone);
  if (!function.isDeclaration())
    function.removeFnAttr(llvm::Attribute::NoInline);
}

llvm::Error alula::cpu::linkBitcode(llvm::Module &code,
                                    const objects::CpuPlan &plan,
                                    const Machine &machine) {
  for (alula::dispatch::ObjectAttr object : plan.bitcode) {
    auto module = llvm::parseBitcodeFile(
        llvm::MemoryBufferRef(object.getBytes(), object.getFileName()),
        code.getContext());
    if (!module)
      return module.takeError();
    // The code generator sets both in the end; until then they may not differ.
    (*module)->setTargetTriple(machine.triple);
    code.setTargetTriple(machine.triple);
    code.setDataLayout((*module)->getDataLayout());
    std::vector<std::string> names;
    for (llvm::Function &function : **module) {
      forgetMachine(function);
      if (!function.isDeclaration() && !function.hasLocalLinkage())
        names.push_back(function.getName().str());
    }
    std::string file = object.getFileName().str();
    if (llvm::Linker::linkModules(code, std::move(*module)))
      return llvm::createStringError("'" + file + "' can't be linked");
    for (const std::string &name : names) {
      llvm::Function *function = code.getFunction(name);
      auto renamed = plan.names.find(name);
      bool isEntry = renamed != plan.names.end() &&
                     !llvm::StringRef(renamed->second).contains('.');
      if (!isEntry) {
        function->setComdat(nullptr);
        function->setLinkage(llvm::GlobalValue::InternalLinkage);
      }
    }
  }
  return llvm::Error::success();
}
