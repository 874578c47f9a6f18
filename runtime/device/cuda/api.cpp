// Finds CUDA's functions.

#include "runtime/device/cuda/device.h"

#include <dlfcn.h>

namespace alula::runtime::cuda {
namespace {

/// cuGetProcAddress itself, which asks for a version of each function.
using GetProcAddress = Result (*)(const char *name, void **function,
                                  int version, uint64_t flags, int *found);

Status find(Api &api) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return makeError(ALULA_STATUS_UNAVAILABLE,
                     "there is no driver of NVIDIA: %.300s", dlerror());
  auto get =
      reinterpret_cast<GetProcAddress>(dlsym(library, "cuGetProcAddress_v2"));
  if (!get)
    return makeError(ALULA_STATUS_UNAVAILABLE,
                     "the driver of NVIDIA is too old: it must be one of CUDA "
                     "12 (525 or newer)");
  struct Wanted {
    const char *name;
    void **place;
  } wanted[] = {
#define X(name, parameters) {"cu" #name, reinterpret_cast<void **>(&api.name)},
      ALULA_FOR_EACH_CUDA_FUNCTION(X)
#undef X
  };
  for (const Wanted &each : wanted) {
    int how = 0;
    if (get(each.name, each.place, apiVersion, 0, &how) != success ||
        !*each.place)
      return makeError(ALULA_STATUS_UNAVAILABLE,
                       "the driver of NVIDIA has no %s: it must be one of CUDA "
                       "12 (525 or newer)",
                       each.name);
  }
  auto tryGet = [&](const char *name, int version, void **place) {
    int how = 0;
    if (get(name, place, version, 0, &how) != success)
      *place = nullptr;
  };
#define X(name, version, parameters)                                           \
  tryGet("cu" #name, version, reinterpret_cast<void **>(&api.name));
  ALULA_FOR_EACH_LATER_CUDA_FUNCTION(X)
#undef X
  return makeCudaError(api, api.Init(0), "cuInit");
}
} // namespace

Status makeCudaError(const Api &api, Result result, const char *what) {
  if (result == success)
    return nullptr;
  const char *name = nullptr, *text = nullptr;
  api.GetErrorName(result, &name);
  api.GetErrorString(result, &text);
  alula_status_code code = result == outOfMemory
                               ? ALULA_STATUS_RESOURCE_EXHAUSTED
                           : result == noDevice ? ALULA_STATUS_UNAVAILABLE
                                                : ALULA_STATUS_INTERNAL;
  return makeError(code, "%.2400s: %s: %.900s", what, name ? name : "?",
                   text ? text : "?");
}

Status getApi(const Api **api) {
  // What is found stays: the library is never unloaded.
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static bool isReady = false;
  static Api found = {};
  pthread_mutex_lock(&mutex);
  Status status = isReady ? nullptr : find(found);
  isReady = !status;
  pthread_mutex_unlock(&mutex);
  *api = &found;
  return status;
}

} // namespace alula::runtime::cuda
