#include "runtime/base/stack.h"

#include <pthread.h>

namespace alula::runtime {
namespace {

/// Asked once for each thread: the system reads files to answer for the first.
struct Bounds {
  uintptr_t low, high;
  bool isKnown;
};
__thread Bounds bounds;

void findBounds() {
  bounds.isKnown = true;
#ifdef __linux__
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0)
    return;
  void *low = nullptr;
  size_t size = 0;
  if (pthread_attr_getstack(&attributes, &low, &size) == 0) {
    bounds.low = reinterpret_cast<uintptr_t>(low);
    bounds.high = bounds.low + size;
  }
  pthread_attr_destroy(&attributes);
#endif
}

} // namespace

uintptr_t getStackLimit(uint64_t reserve) {
  if (!bounds.isKnown)
    findBounds();
  uintptr_t here = getStackPointer();
  if (here < bounds.low || here >= bounds.high)
    return 0;
  return bounds.low + reserve;
}

} // namespace alula::runtime
