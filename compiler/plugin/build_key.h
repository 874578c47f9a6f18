#pragma once

#include "llvm/Support/Error.h"

namespace alula::plugin {

/// What plugins of tier M must be built for.
llvm::StringRef getBuildKey();
const void *getAnchor();

/// [plug-build-key] with both keys and the first field that differs.
llvm::Error compareBuildKeys(llvm::StringRef path, llvm::StringRef theirs,
                             llvm::StringRef ours = getBuildKey());

} // namespace alula::plugin
