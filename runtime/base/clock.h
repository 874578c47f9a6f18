// Nanoseconds of the monotonic clock.

#pragma once

#include <cstdint>
#include <ctime>

namespace alula::runtime {

inline uint64_t readClock() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return uint64_t(now.tv_sec) * 1000000000 + uint64_t(now.tv_nsec);
}

} // namespace alula::runtime
