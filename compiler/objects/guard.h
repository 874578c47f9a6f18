#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"

namespace alula::objects {

/// Runs what LLVM does with the bytes of others, who may have damaged them: its
/// readers and its linker trust them. Returns false where it has crashed; what
/// it had then is lost. Signals of the whole process are caught meanwhile.
bool runGuarded(llvm::function_ref<void()> run);

} // namespace alula::objects
