// Bytes that the compiler embeds: whole files are packed by alula-pack-bytes.

#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>

namespace alula::cpu {

/// What was packed; empty if nothing is there. Aborts on
/// anything else: it would not be the compiler that was built.
std::string unpackBytes(const char *begin, const char *end);

std::string packBytes(llvm::StringRef bytes);

} // namespace alula::cpu
