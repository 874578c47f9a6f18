// The list of drivers.

#pragma once

#include "runtime/device/device.h"

namespace alula::runtime {

/// The driver of "cpu", "cuda", "cuda:1", …, and the number of the device. An
/// error if there is none, or if its library can't be loaded.
Status findDriver(const char *name, const Driver **driver, uint32_t *ordinal);

} // namespace alula::runtime
