#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>

namespace alula::objects {

/// Reads bitcode in a child process first: LLVM's reader trusts it, and may
/// crash, take all memory or never come to an end. Returns what is wrong with
/// it, or nothing. Asked again of the same bytes, it remembers.
std::string findDamage(llvm::StringRef bitcode);

} // namespace alula::objects
