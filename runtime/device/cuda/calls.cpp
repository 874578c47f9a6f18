// Finds libraries that compute kernels, and asks them.

#include "runtime/base/library.h"
#include "runtime/device/cuda/device.h"

#include <cstdio>
#include <cstring>
#include <dlfcn.h>

namespace alula::runtime::cuda {
namespace {

constexpr size_t mostNameBytes = 32, mostLibraries = 16;

const alula_cuda_library *open(const char *name) {
  char file[mostNameBytes + 32];
  snprintf(file, sizeof file, "libalula_%s.so.0", name);
  void *library = openPart(file);
  auto query = library ? reinterpret_cast<alula_cuda_library_query_function>(
                             dlsym(library, ALULA_CUDA_LIBRARY_QUERY))
                       : nullptr;
  return query ? query(ALULA_CUDA_LIBRARY_ABI) : nullptr;
}

/// The first word of a text, which is no path.
bool readName(const char *text, char *name) {
  size_t size = strcspn(text, " ");
  if (!size || size >= mostNameBytes)
    return false;
  for (size_t i = 0; i < size; ++i)
    if (!(text[i] >= 'a' && text[i] <= 'z') &&
        !(text[i] >= '0' && text[i] <= '9') && text[i] != '_')
      return false;
  memcpy(name, text, size);
  name[size] = 0;
  return true;
}

/// What is found stays: libraries are never unloaded.
const alula_cuda_library *find(const char *name) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static struct Found {
    char name[mostNameBytes];
    const alula_cuda_library *library;
  } all[mostLibraries];
  pthread_mutex_lock(&mutex);
  const alula_cuda_library *library = nullptr;
  Found *place = nullptr;
  for (Found &each : all)
    if (!*each.name || strcmp(each.name, name) == 0) {
      place = &each;
      break;
    }
  if (place && *place->name) {
    library = place->library;
  } else if ((library = open(name)) && place) {
    strcpy(place->name, name);
    place->library = library;
  }
  pthread_mutex_unlock(&mutex);
  return library;
}
} // namespace

void prepareCall(const CudaDevice &device, const char *text,
                 uint32_t argumentCount, CudaCall &call) {
  char name[mostNameBytes];
  call.library = readName(text, name) ? find(name) : nullptr;
  call.isMissing = !call.library;
  if (!call.library) {
    snprintf(call.reason, sizeof call.reason,
             "generated: there is no library for '%.150s'", text);
    return;
  }
  alula_cuda_request request = {};
  request.struct_bytes = sizeof request;
  request.argument_count = argumentCount;
  request.text = text;
  request.ordinal = device.number;
  request.alignment = bindingAlignment;
  request.workspace_bytes = workspaceBytes;
  char reason[160] = "";
  int32_t how =
      call.library->prepare(&request, &call.plan, reason, sizeof reason);
  if (how != ALULA_CUDA_LIBRARY_TAKEN)
    call.plan = nullptr;
  call.isMissing = how == ALULA_CUDA_LIBRARY_MISSING;
  if (call.plan)
    strcpy(call.reason, name);
  else
    snprintf(call.reason, sizeof call.reason, "generated: %s: %s", name,
             reason);
}

} // namespace alula::runtime::cuda
