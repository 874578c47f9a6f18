// The list of drivers.

#include "runtime/capi/drivers.h"

namespace alula::runtime {

const Driver *findDriver(const char *name) {
  static const Driver *const drivers[] = {&cpuDriver, &nullDriver, &afarDriver};
  for (const Driver *driver : drivers)
    if (driver && strcmp(driver->name, name) == 0)
      return driver;
  return nullptr;
}

} // namespace alula::runtime
