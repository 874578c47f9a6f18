#pragma once

#include "pjrt/border.h"

#include <string_view>

namespace alula::pjrt {

/// What a client's devices are. The one place that knows names of platforms, of
/// the runtime's drivers and of kinds of devices.
struct Platform {
  /// What clients call it.
  std::string_view name;
  /// The runtime's driver; a client picks the platform by it.
  const char *driver;
  /// What kind of machine its programs are for.
  std::string_view deviceKind;
  /// What programs are compiled for unless somebody says; NULL: the host.
  const char *target = nullptr;
  /// The machine has a number of them, `cuda:0` and so on, which are all used;
  /// else devices are as many as a client wants.
  bool isCounted = false;

  /// What programs for such a chip are compiled for unless somebody says.
  const char *getTarget(std::string_view chip) const {
    return target && chip == "sm_90" ? "cuda:sm_90a" : target;
  }

  /// What the runtime calls a device.
  std::string getDevice(int32_t number) const {
    return isCounted ? std::string(driver) + ':' + std::to_string(number)
                     : driver;
  }
};

inline constexpr Platform platforms[] = {
    {"alula", "cpu", "cpu"},
    // For tests: the CPU with memory that the host can't reach; no kernels.
    {"alula", "afar", "cpu"},
    {"alula", "null", "cpu"},
    // A text that all later chips run, where there is none for a chip alone.
    {"alula_cuda", "cuda", "cuda", "cuda:sm_80", true},
};

/// If the client doesn't say.
inline constexpr const Platform &defaultPlatform = platforms[0];

/// Of all platforms, which are one plugin; also who made an executable.
inline constexpr std::string_view pluginVersion = "alula 0.1.0";

/// The platform of a driver; an error if there is none.
inline void *findPlatform(std::string_view driver, const Platform *&result) {
  for (const Platform &platform : platforms)
    if (platform.driver == driver) {
      result = &platform;
      return nullptr;
    }
  return makeError(ALULA_STATUS_NOT_FOUND,
                   "alula: there is no device '" + std::string(driver) + "'");
}

} // namespace alula::pjrt
