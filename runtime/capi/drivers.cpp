// The list of drivers.

#include "runtime/capi/drivers.h"

#include "runtime/base/library.h"

#include <dlfcn.h>

namespace alula::runtime {
namespace {

const char cudaLibrary[] = "libalula_cuda.so.0";

Status loadCudaDriver(const Driver **driver) {
  if (&cudaDriver) {
    *driver = &cudaDriver;
    return nullptr;
  }
  void *library = openPart(cudaLibrary);
  if (!library)
    return makeError(ALULA_STATUS_NOT_FOUND,
                     "device 'cuda' needs the library %s beside the runtime's: "
                     "%.300s",
                     cudaLibrary, dlerror());
  static const DriverHost host = {sizeof(Driver), sizeof(Dispatch),
                                  sizeof(Instance), alula_error_create};
  auto query =
      reinterpret_cast<DriverQuery>(dlsym(library, "alula_driver_query"));
  *driver = query ? query(&host) : nullptr;
  // It stays loaded: instances use it as long as they want.
  return *driver ? nullptr
                 : makeError(ALULA_STATUS_FAILED_PRECONDITION,
                             "%s is of another version of Alula", cudaLibrary);
}
} // namespace

Status findDriver(const char *name, const Driver **driver, uint32_t *ordinal) {
  *ordinal = 0;
  static const Driver *const drivers[] = {&cpuDriver, &nullDriver, &afarDriver};
  for (const Driver *known : drivers)
    if (known && strcmp(known->name, name) == 0) {
      *driver = known;
      return nullptr;
    }
  bool isCuda = strncmp(name, "cuda", 4) == 0;
  if (isCuda && name[4] == ':' && name[5] >= '0' && name[5] <= '9') {
    char *end;
    *ordinal = uint32_t(strtoul(name + 5, &end, 10));
    isCuda = !*end;
  } else {
    isCuda = isCuda && !name[4];
  }
  if (isCuda)
    return loadCudaDriver(driver);
  return makeError(ALULA_STATUS_NOT_FOUND,
                   "there is no device '%s': this runtime has cpu, null and "
                   "cuda, cuda:1, ...",
                   name);
}

} // namespace alula::runtime
