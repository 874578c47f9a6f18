#pragma once

#include "compiler/target/cpu/machine.h"

#include "llvm/ADT/ArrayRef.h"

#include <string>
#include <vector>

namespace llvm {
class Module;
} // namespace llvm

namespace alula::cuda {

/// A function that is launched.
struct PtxKernel {
  std::string name;
  /// Of a block.
  int64_t threads;
  /// Of its pointers in turn: whether nothing is written there.
  std::vector<bool> areOnlyRead;
  /// Of a block's memory, what a launch has to ask for: known with its text.
  int64_t sharedBytes = 0;
};

/// What a kernel's entry is called in a text: characters that PTX has not are
/// `$` and two hexadecimal digits.
std::string getPtxName(llvm::StringRef kernel);

/// Optimizes `module` with what it calls of the kernel library and returns it
/// as a text of PTX, which calls nobody.
llvm::Expected<std::string>
generatePtx(llvm::Module &module, const cpu::Machine &machine,
            llvm::MutableArrayRef<PtxKernel> kernels);

} // namespace alula::cuda
