// Memory of a discrete device, simulated: its addresses fault on the host, and
// are translated here alone.

#pragma once

#include "runtime/device/device.h"

namespace alula::runtime {

/// The memory of one device. Its addresses are those of a large range without
/// access rights; each allocation has real memory elsewhere. Addresses are
/// given out in ascending order and used again as late as possible, so that
/// those of released memory stay wrong.
class AfarMemory {
public:
  explicit AfarMemory(const Allocator &allocator) : allocator(allocator) {}
  AfarMemory(const AfarMemory &) = delete;
  AfarMemory &operator=(const AfarMemory &) = delete;
  ~AfarMemory();

  Status open();
  /// NULL if there is no memory.
  uint8_t *allocate(uint64_t bytes);
  void release(uint8_t *address, uint64_t bytes);
  bool contains(const void *address, uint64_t bytes);

  /// Translates a device address. An access out of bounds of one allocation
  /// ends the process; 0 bytes are at `address`.
  uint8_t *translate(const char *what, const uint8_t *address, uint64_t bytes);

private:
  struct Block {
    uint8_t *address, *memory;
    uint64_t bytes;
  };
  /// The index of the first block that ends behind `address`.
  size_t findBlock(const uint8_t *address) const;
  uint8_t *findAddress(uint64_t bytes) const;
  const Block *find(const uint8_t *address, uint64_t bytes) const;

  Allocator allocator;
  uint8_t *space = nullptr;
  uint64_t spaceBytes = 0;
  uint8_t *next = nullptr;
  Mutex mutex;
  /// In the order of their addresses.
  Array<Block> blocks;
};

} // namespace alula::runtime
