// The hash of headers and sections: XXH64 with seed 0, our own implementation
// of the published algorithm. It detects corruption, not an attacker's edits.

#pragma once

#include <cstddef>
#include <cstdint>

namespace alula::artifact {

uint64_t hashBytes(const void *bytes, size_t size);

} // namespace alula::artifact
