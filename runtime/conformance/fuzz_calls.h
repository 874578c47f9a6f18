// What the fuzzers of the runtime share: an allocator with little memory, and a
// custom call that touches all it is given.

#pragma once

#include "alula/runtime.h"

#include <atomic>
#include <cstdlib>
#include <cstring>

namespace alula::runtime {

/// An allocator with a small limit: each failure covers one more error path.
inline std::atomic<uint64_t> fuzzBytes = 0;
inline void *allocateForFuzz(void *, size_t bytes, size_t alignment) {
  if (bytes > (uint64_t(64) << 20) - fuzzBytes)
    return nullptr;
  fuzzBytes += bytes;
  return aligned_alloc(alignment,
                       (bytes + alignment - 1) / alignment * alignment);
}
inline void releaseForFuzz(void *, void *memory, size_t bytes, size_t) {
  fuzzBytes -= bytes;
  free(memory);
}

/// Accesses all bytes that it may: ASan reports a wrong size.
inline alula_error *touchAll(void *, const alula_custom_call_args *args) {
  uint64_t sum = args->config_bytes + args->attribute_bytes;
  for (uint32_t i = 0; i < args->operand_count; ++i)
    for (uint64_t j = 0; j < args->operands[i].bytes; ++j)
      sum += static_cast<uint8_t *>(args->operands[i].data)[j];
  for (uint32_t i = 0; i < args->result_count; ++i)
    memset(args->results[i].data, int(sum), args->results[i].bytes);
  if (sum % 5)
    return nullptr;
  return alula_error_create(ALULA_STATUS_ABORTED, "five");
}

} // namespace alula::runtime
