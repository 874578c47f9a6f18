// Finds NCCL's functions.

#include "runtime/device/cuda/nccl/api.h"

#include <cstdio>
#include <dlfcn.h>
#include <pthread.h>

namespace alula::runtime::cuda::nccl {
namespace {

bool find(Api &api, char (&why)[400]) {
  void *library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    snprintf(why, sizeof why, "there is no NCCL: %.300s", dlerror());
    return false;
  }
  struct Wanted {
    const char *name;
    void **place;
  } wanted[] = {
#define X(name, parameters)                                                    \
  {"nccl" #name, reinterpret_cast<void **>(&api.name)},
      ALULA_FOR_EACH_NCCL_FUNCTION(X)
#undef X
          {"ncclGetErrorString",
           reinterpret_cast<void **>(&api.GetErrorString)},
      {"ncclGetLastError", reinterpret_cast<void **>(&api.GetLastError)}};
  for (const Wanted &each : wanted)
    if (!(*each.place = dlsym(library, each.name))) {
      snprintf(why, sizeof why, "NCCL is too old: it has no %s, which 2.18 has",
               each.name);
      return false;
    }
  Code code = api.GetVersion(&api.version);
  if (code == fine && api.version >= leastVersion)
    return true;
  snprintf(why, sizeof why,
           "NCCL is too old: its version is %d, at least %d is needed",
           code == fine ? api.version : 0, leastVersion);
  return false;
}
} // namespace

const Api *getApi(char (&why)[400]) {
  // What is found stays: the library is never unloaded.
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static bool isReady = false;
  static Api found = {};
  pthread_mutex_lock(&mutex);
  isReady = isReady || find(found, why);
  pthread_mutex_unlock(&mutex);
  return isReady ? &found : nullptr;
}

} // namespace alula::runtime::cuda::nccl
