// How much stack the calling thread has left.

#pragma once

#include <cstdint>

namespace alula::runtime {

/// The lowest address that frames of this thread may reach, and `reserve` bytes
/// more; 0 if it is unknown, as on the stack of a fiber.
uintptr_t getStackLimit(uint64_t reserve);

inline uintptr_t getStackPointer() {
  return reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
}

} // namespace alula::runtime
