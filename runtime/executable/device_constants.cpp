// Constants in the memory of a device that does not share the host's.

#include "runtime/executable/executable.h"

namespace alula::runtime {
namespace {

uint64_t alignUp(uint64_t bytes) {
  return (bytes + memoryAlignment - 1) / memoryAlignment * memoryAlignment;
}

/// Marks, with an address that is not theirs yet, those that are needed there;
/// what custom calls are configured with stays with the host.
void markNeeded(alula_executable &executable) {
  const artifact::Artifact &file = executable.image->file;
  static uint8_t needed;
  for (uint64_t i = 0; i < file.slots.size; ++i)
    if (file.slots[i].kind == ALULA_SLOT_CONSTANT)
      executable.deviceConstants[file.slots[i].index] = &needed;
  for (uint64_t i = 0; i < file.globals.size; ++i)
    if (file.globals[i].initial != ALULA_NONE)
      executable.deviceConstants[file.globals[i].initial] = &needed;
}

} // namespace

Status placeConstants(alula_executable &executable) {
  const artifact::Artifact &file = executable.image->file;
  Instance &instance = *executable.instance;
  const Driver &driver = *instance.driver;
  size_t count = file.constants.size;
  if (!executable.deviceConstants.resize(count))
    return makeOutOfMemory("constants", count);
  if (driver.sharesMemory) {
    for (size_t i = 0; i < count; ++i)
      executable.deviceConstants[i] =
          const_cast<uint8_t *>(executable.image->constants[i]);
    return nullptr;
  }
  markNeeded(executable);
  // Each has at most 2^48 bytes, and there are less than 2^15 of those that a
  // file or a machine holds.
  uint64_t bytes = 0;
  for (size_t i = 0; i < count; ++i)
    if (executable.deviceConstants[i])
      bytes += alignUp(file.constants[i].bytes);
  if (!bytes)
    return nullptr;
  executable.constantMemory = driver.allocate(instance.device, bytes);
  if (!executable.constantMemory)
    return makeOutOfMemory("constants", bytes);
  executable.constantMemoryBytes = bytes;
  StreamUse stream(instance);
  ALULA_TRY(stream.take());
  uint8_t *to = executable.constantMemory;
  for (size_t i = 0; i < count; ++i) {
    if (!executable.deviceConstants[i])
      continue;
    executable.deviceConstants[i] = to;
    ALULA_TRY(driver.copyTo(stream.get(), to, executable.image->constants[i],
                            file.constants[i].bytes));
    to += alignUp(file.constants[i].bytes);
  }
  return stream.finish(nullptr);
}

} // namespace alula::runtime
