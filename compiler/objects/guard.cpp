#include "compiler/objects/guard.h"

#include "llvm/Support/CrashRecoveryContext.h"

#include <mutex>

bool alula::objects::runGuarded(llvm::function_ref<void()> run) {
  // One at a time: the switch is the process's.
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  llvm::CrashRecoveryContext::Enable();
  llvm::CrashRecoveryContext recovery;
  bool survives = recovery.RunSafely(run);
  llvm::CrashRecoveryContext::Disable();
  return survives;
}
