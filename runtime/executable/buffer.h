// Arrays: arguments and results of calls.

#pragma once

#include "alula/artifact.h"
#include "runtime/device/device.h"

struct alula_buffer {
  alula::runtime::Instance *instance;
  std::atomic<uint32_t> users;
  alula_dtype dtype;
  uint32_t rank;
  /// NULL once the memory was donated.
  uint8_t *data;
  uint64_t bytes;
  /// The deleter of wrapped memory; else the allocator releases it.
  bool isWrapped;
  /// In memory of the host that the device reaches too.
  bool isOnHost;
  void (*releaseData)(void *user, void *data);
  void *releaseUser;
  int64_t dims[];
};

namespace alula::runtime {

/// Bytes of a shape; an error for what no buffer can have.
Status getShapeBytes(alula_dtype dtype, uint32_t rank, const int64_t *dims,
                     uint64_t &bytes);

/// A buffer without memory.
Status createHandle(Instance *instance, alula_dtype dtype, uint32_t rank,
                    const int64_t *dims, alula_buffer **buffer);
Status createBuffer(Instance *instance, alula_dtype dtype, uint32_t rank,
                    const int64_t *dims, alula_buffer **buffer);
/// Whether the host may read and write the buffer's memory.
bool isHosts(const alula_buffer &buffer);

/// Donates `from`'s memory to `to`, which has none.
void moveMemory(alula_buffer *from, alula_buffer *to);

/// The natural alignment of a type's elements.
uint32_t getElementAlignment(alula_dtype dtype);

/// "2x3xf32" into a text of the given size.
void printShape(char *text, size_t size, alula_dtype dtype, uint32_t rank,
                const int64_t *dims);

} // namespace alula::runtime
