// The driver as a library of its own: errors are made by the runtime that
// loaded it.

#include "runtime/device/device.h"

#include <cstdarg>
#include <cstdio>

namespace alula::runtime {
namespace {
const DriverHost *host = nullptr;
}

Status makeError(alula_status_code code, const char *format, ...) {
  char text[4096];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  return host->createError(code, text);
}

Status makeOutOfMemory(const char *what, uint64_t bytes) {
  return makeError(ALULA_STATUS_RESOURCE_EXHAUSTED,
                   "out of memory: %llu bytes for %s",
                   static_cast<unsigned long long>(bytes), what);
}

Status makeKernelError(const char *functionName, const char *kernelName,
                       int32_t code) {
  return makeError(ALULA_STATUS_INTERNAL,
                   "function '%.200s': kernel '%.100s' failed with code %d",
                   functionName, kernelName, code);
}

extern "C" __attribute__((visibility("default"))) const Driver *
alula_driver_query(const DriverHost *mine);
extern "C" const Driver *alula_driver_query(const DriverHost *mine) {
  if (mine->driverBytes != sizeof(Driver) ||
      mine->dispatchBytes != sizeof(Dispatch) ||
      mine->instanceBytes != sizeof(Instance))
    return nullptr;
  host = mine;
  return &cudaDriver;
}

} // namespace alula::runtime
