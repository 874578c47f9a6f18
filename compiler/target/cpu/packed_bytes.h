// Files that the compiler embeds, packed by alula-pack-bytes.

#pragma once

#include <string>

namespace alula::cpu {

/// What a file was before it was packed; empty for an empty file. Aborts on
/// anything else: it would not be the compiler that was built.
std::string unpackBytes(const char *begin, const char *end);

} // namespace alula::cpu
