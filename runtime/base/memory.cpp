#include "runtime/base/memory.h"

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace alula::runtime {

void *Allocator::allocate(size_t bytes) const {
  if (hooks.allocate)
    return hooks.allocate(hooks.user, bytes ? bytes : 1, memoryAlignment);
  size_t alignment = bytes >= hugeBytes ? hugePage : memoryAlignment;
  if (bytes > SIZE_MAX - alignment)
    return nullptr;
  size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void *memory = aligned_alloc(alignment, rounded ? rounded : alignment);
#ifdef __linux__
  if (memory && bytes >= hugeBytes)
    madvise(memory, rounded, MADV_HUGEPAGE);
#endif
  return memory;
}

void Allocator::release(void *memory, size_t bytes) const {
  if (!memory)
    return;
  if (hooks.release)
    hooks.release(hooks.user, memory, bytes ? bytes : 1, memoryAlignment);
  else
    free(memory);
}

} // namespace alula::runtime
