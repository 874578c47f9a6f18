#include "runtime/device/afar/memory.h"

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <sys/mman.h>

namespace alula::runtime {

/// Reserved, not used: pages without rights cost nothing. Less where a process
/// may have less.
constexpr uint64_t mostSpaceBytes = uint64_t(1) << 37,
                   leastSpaceBytes = uint64_t(1) << 28;
/// Between two allocations, so that what runs over the end of one is not in the
/// next.
constexpr uint64_t gapBytes = 4096;

static uint64_t getSpan(uint64_t bytes) {
  return (bytes + gapBytes + memoryAlignment - 1) / memoryAlignment *
         memoryAlignment;
}

AfarMemory::~AfarMemory() {
  for (const Block &block : blocks)
    allocator.release(block.memory, block.bytes);
  if (space)
    munmap(space, spaceBytes);
}

Status AfarMemory::open() {
  for (uint64_t bytes = mostSpaceBytes; bytes >= leastSpaceBytes; bytes /= 2) {
    void *pages = mmap(nullptr, bytes, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED)
      continue;
    space = next = static_cast<uint8_t *>(pages);
    spaceBytes = bytes;
    return nullptr;
  }
  return makeError(ALULA_STATUS_RESOURCE_EXHAUSTED,
                   "device 'afar' can't reserve its addresses: %s",
                   strerror(errno));
}

size_t AfarMemory::findBlock(const uint8_t *address) const {
  size_t low = 0, high = blocks.size();
  while (low < high) {
    size_t middle = (low + high) / 2;
    const Block &block = blocks[middle];
    if (block.address + getSpan(block.bytes) > address)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

uint8_t *AfarMemory::findAddress(uint64_t bytes) const {
  if (bytes > spaceBytes - gapBytes - memoryAlignment)
    return nullptr;
  uint64_t span = getSpan(bytes);
  for (uint8_t *from : {next, space}) {
    uint8_t *at = from;
    for (size_t i = findBlock(at); i < blocks.size(); ++i) {
      const Block &block = blocks[i];
      if (block.address >= at && uint64_t(block.address - at) >= span)
        return at;
      at = block.address + getSpan(block.bytes);
    }
    if (uint64_t(space + spaceBytes - at) >= span)
      return at;
  }
  return nullptr;
}

uint8_t *AfarMemory::allocate(uint64_t bytes) {
  Lock lock(mutex);
  Block made = {findAddress(bytes), nullptr, bytes};
  if (!made.address)
    return nullptr;
  made.memory = static_cast<uint8_t *>(allocator.allocate(bytes));
  if (!made.memory || !blocks.push(made)) {
    allocator.release(made.memory, bytes);
    return nullptr;
  }
  // Reads of uninitialized memory show.
  memset(made.memory, 0xAF, bytes);
  for (size_t i = blocks.size() - 1;
       i && blocks[i - 1].address > blocks[i].address; --i) {
    Block moved = blocks[i];
    blocks[i] = blocks[i - 1];
    blocks[i - 1] = moved;
  }
  next = made.address + getSpan(bytes);
  return made.address;
}

void AfarMemory::release(uint8_t *address, uint64_t bytes) {
  Lock lock(mutex);
  size_t index = findBlock(address);
  if (index == blocks.size() || blocks[index].address != address ||
      blocks[index].bytes != bytes) {
    fprintf(stderr,
            "device 'afar': release of %" PRIu64
            " bytes at %p, which it has not given out\n",
            bytes, static_cast<void *>(address));
    abort();
  }
  // So that use after free by commands in flight shows.
  memset(blocks[index].memory, 0xDE, bytes);
  allocator.release(blocks[index].memory, bytes);
  for (size_t i = index + 1; i < blocks.size(); ++i)
    blocks[i - 1] = blocks[i];
  // Shrinking never allocates.
  (void)!blocks.resize(blocks.size() - 1);
}

const AfarMemory::Block *AfarMemory::find(const uint8_t *address,
                                          uint64_t bytes) const {
  size_t index = findBlock(address);
  if (index == blocks.size())
    return nullptr;
  const Block &block = blocks[index];
  uint64_t offset = uint64_t(address - block.address);
  if (address < block.address || offset > block.bytes ||
      bytes > block.bytes - offset)
    return nullptr;
  return &block;
}

bool AfarMemory::contains(const void *address, uint64_t bytes) {
  Lock lock(mutex);
  return find(static_cast<const uint8_t *>(address), bytes);
}

uint8_t *AfarMemory::translate(const char *what, const uint8_t *address,
                               uint64_t bytes) {
  if (!bytes)
    return const_cast<uint8_t *>(address);
  Lock lock(mutex);
  const Block *block = find(address, bytes);
  if (!block) {
    fprintf(stderr,
            "device 'afar': %s of %" PRIu64
            " bytes at %p, which is not its memory\n",
            what, bytes, static_cast<const void *>(address));
    abort();
  }
  return block->memory + (address - block->address);
}

} // namespace alula::runtime
