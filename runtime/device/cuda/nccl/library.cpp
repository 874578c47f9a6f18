// What the driver loads: errors are made by the runtime that it is of.

#include "runtime/device/cuda/nccl/nccl.h"

#include <cstdarg>
#include <cstdio>

namespace alula::runtime {
namespace {
const cuda::NcclHost *host = nullptr;
}

Status makeError(alula_status_code code, const char *format, ...) {
  char text[2048];
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

const cuda::NcclHost &cuda::nccl::getHost() { return *host; }

extern "C" __attribute__((visibility("default"))) const cuda::NcclFunctions *
alula_nccl_query(const cuda::NcclHost *mine);
extern "C" const cuda::NcclFunctions *
alula_nccl_query(const cuda::NcclHost *mine) {
  if (mine->apiBytes != sizeof(cuda::Api) ||
      mine->collectivesBytes != sizeof(alula_collectives) ||
      mine->collectiveBytes != sizeof(alula_collective))
    return nullptr;
  host = mine;
  return &cuda::nccl::functions;
}

} // namespace alula::runtime
