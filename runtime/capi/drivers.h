// The list of drivers.

#pragma once

#include "runtime/device/device.h"

namespace alula::runtime {

/// NULL if there is none with this name.
const Driver *findDriver(const char *name);

} // namespace alula::runtime
