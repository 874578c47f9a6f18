#pragma once

#include "llvm/ADT/StringRef.h"

#include <functional>

namespace alula::cpu {

/// What a caller may know of, and how it ends it. Both may be empty.
struct CodegenHooks {
  /// Asked between kernels and between LLVM's passes.
  std::function<bool()> isCancelled;
  /// Before each kernel.
  std::function<void(llvm::StringRef kernel, unsigned done, unsigned total)>
      onKernel;
  /// What a kernel is on its way to code, by the ending of its file: ".ll",
  /// ".opt.ll", ".s", ".o".
  std::function<void(llvm::StringRef kernel, llvm::StringRef ending,
                     llvm::StringRef bytes)>
      onForm;
  /// 1: images have the names of all functions; 2: and lines.
  unsigned debugLevel = 0;
  /// Run MLIR's verifier after every pass.
  bool verifyPasses = false;
};

} // namespace alula::cpu
