// The code generator says how large frames are; the module says who calls whom,
// but for builtins, which any function may call.

#include "compiler/target/cpu/stack_bound.h"

#include "compiler/target/cpu/object_code.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <optional>
#include <sys/mman.h>
#include <unistd.h>

using namespace alula::cpu;

namespace {
/// "FILE:NAME\tBYTES\tstatic", by name.
llvm::Expected<llvm::StringMap<uint64_t>> readFrames(llvm::StringRef text) {
  llvm::StringMap<uint64_t> frames;
  llvm::SmallVector<llvm::StringRef> lines;
  text.split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef line : lines) {
    auto [place, rest] = line.split('\t');
    auto [size, kind] = rest.split('\t');
    uint64_t bytes;
    if (size.getAsInteger(10, bytes))
      return llvm::createStringError("no stack usage: " + line);
    llvm::StringRef name = place.rsplit(':').second;
    if (kind != "static")
      return llvm::createStringError(
          "code without a runtime must have a bounded stack: has a frame of "
          "unknown size in " +
          name);
    frames[name] = bytes;
  }
  return frames;
}

class Walk {
public:
  Walk(const llvm::Module &module, const llvm::StringMap<uint64_t> &frames,
       uint64_t callBytes)
      : module(module), frames(frames), callBytes(callBytes) {}

  llvm::Expected<uint64_t> getBound() {
    // They call each other at most.
    for (const llvm::Function &function : module)
      if (isBuiltin(function) && !function.isDeclaration())
        builtins += getFrame(function);
    uint64_t most = 0;
    for (const llvm::Function &function : module)
      if (!function.isDeclaration() && !isBuiltin(function))
        most = std::max(most, visit(function));
    if (!circle.empty())
      return llvm::createStringError(
          "code without a runtime must have a bounded stack: calls itself: " +
          circle);
    return most;
  }

private:
  /// Known by a name of C's, not one of ours.
  static bool isBuiltin(const llvm::Function &function) {
    const llvm::GlobalVariable *used =
        function.getParent()->getGlobalVariable("llvm.compiler.used");
    return used && llvm::is_contained(function.users(), used->getInitializer());
  }

  uint64_t getFrame(const llvm::Function &function) const {
    return frames.lookup(function.getName()) + callBytes;
  }

  uint64_t visit(const llvm::Function &function) {
    auto [place, isNew] = bounds.try_emplace(&function, std::nullopt);
    if (!isNew) {
      if (!place->second)
        circle = function.getName();
      return place->second.value_or(0);
    }
    uint64_t below = builtins;
    for (const llvm::Instruction &instruction : llvm::instructions(function)) {
      auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      const llvm::Function *callee = call ? call->getCalledFunction() : nullptr;
      if (callee && !callee->isDeclaration() && !isBuiltin(*callee))
        below = std::max(below, visit(*callee));
    }
    return *(bounds[&function] = getFrame(function) + below);
  }

  const llvm::Module &module;
  const llvm::StringMap<uint64_t> &frames;
  uint64_t callBytes, builtins = 0;
  std::string circle;
  llvm::DenseMap<const llvm::Function *, std::optional<uint64_t>> bounds;
};
} // namespace

llvm::Expected<uint64_t> alula::cpu::findStackBound(const llvm::Module &module,
                                                    const Machine &machine) {
  int file = memfd_create("alula-stack", MFD_CLOEXEC);
  if (file < 0)
    return llvm::createStringError("no memory for a file");
  std::string name = "/proc/self/fd/" + std::to_string(file);
  auto object = emitObject(*llvm::CloneModule(module), machine, name);
  auto text = llvm::MemoryBuffer::getFile(name, /*IsText=*/true);
  close(file);
  if (!object)
    return object.takeError();
  if (!text)
    return llvm::errorCodeToError(text.getError());
  auto frames = readFrames((*text)->getBuffer());
  if (!frames)
    return frames.takeError();
  // WebAssembly's code generator says nothing of them.
  if (frames->empty())
    return 0;
  // What a call pushes itself.
  auto callBytes = static_cast<uint64_t>(machine.facts.indexBits / 8);
  return Walk(module, *frames, callBytes).getBound();
}
