// One run of the tool: a file, its inputs, its checks.
#pragma once

#include "tools/interpret/arguments.h"

#include "llvm/Support/raw_ostream.h"

namespace alula::interpret {

/// Runs everything that the arguments ask for. Results go to `out`, problems
/// to `err`, a line each. True if all went well.
bool runSession(const Arguments &arguments, llvm::raw_ostream &out,
                llvm::raw_ostream &err);

} // namespace alula::interpret
