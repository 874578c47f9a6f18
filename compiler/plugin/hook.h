// Calls into code of others.

#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace alula::plugin {

/// Calls `work`. If it crashes, what it held is lost and the answer is the
/// sentence for the user: "crash in plugin swap, stage preprocess: aborted
/// (signal 6)". Whoever gets one should end soon.
std::optional<std::string> callHook(llvm::StringRef plugin,
                                    llvm::StringRef stage,
                                    llvm::function_ref<void()> work);

/// "plugin swap, stage preprocess" while this thread is in a hook, else null.
/// A signal handler may ask.
const char *getCurrentHook();

} // namespace alula::plugin
