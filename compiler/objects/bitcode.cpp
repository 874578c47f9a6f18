#include "compiler/objects/bitcode.h"

#include "compiler/objects/bitcode_trial.h"
#include "compiler/objects/file_kind.h"
#include "compiler/objects/guard.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace alula::objects;

namespace {
void readFunctions(const Module &module, ElfSymbols &symbols) {
  for (const Function &function : module) {
    if (function.hasLocalLinkage() || function.isIntrinsic())
      continue;
    std::string name = function.getName().str();
    if (function.isDeclaration()) {
      symbols.undefined.insert(name);
      continue;
    }
    symbols.defined.insert(name);
    symbols.functions.insert(name);
  }
}

void checkVariables(const Module &module, Problems &problems) {
  std::set<std::string> written, threadLocal;
  for (const GlobalVariable &global : module.globals())
    if (global.isThreadLocal())
      threadLocal.insert(global.getName().str());
    else if (!global.isConstant() && !global.getName().starts_with("llvm."))
      written.insert(global.getName().str());
  if (!threadLocal.empty())
    problems.push_back(
        {"obj-tls", "has thread-local storage: " + join(threadLocal, ", ")});
  if (!written.empty())
    problems.push_back(
        {"obj-state", "has memory that is written: " + join(written, ", ")});
  if (module.getNamedGlobal("llvm.global_ctors") ||
      module.getNamedGlobal("llvm.global_dtors"))
    problems.push_back({"obj-constructor", "has constructors"});
  if (!module.ifunc_empty())
    problems.push_back(
        {"obj-ifunc", "has functions that are resolved at load: " +
                          module.ifunc_begin()->getName().str()});
}
} // namespace

ElfSymbols alula::objects::checkBitcode(StringRef bytes, StringRef architecture,
                                        Problems &problems) {
  ElfSymbols symbols;
  if (std::string damage = findDamage(bytes); !damage.empty()) {
    problems.push_back({"obj-damaged", "is damaged: " + damage});
    return symbols;
  }
  std::string own = getArchitecture(bytes);
  if (!own.empty() && own != architecture) {
    problems.push_back({"obj-machine", "must be for " + architecture.str() +
                                           ": is " + describeFile(bytes)});
    return symbols;
  }
  bool isRead = false;
  // Where there could be no child, this is the first that reads it.
  bool survives = runGuarded([&] {
    LLVMContext context;
    auto module = parseBitcodeFile(MemoryBufferRef(bytes, "bitcode"), context);
    if (!module)
      return consumeError(module.takeError());
    isRead = true;
    readFunctions(**module, symbols);
    checkVariables(**module, problems);
  });
  if (!survives || !isRead)
    problems.push_back({"obj-damaged", "is damaged: LLVM can't read it"});
  return symbols;
}
