// Memory and streams of synchronous drivers with unified memory: a driver's
// table is these functions and its kernels.

#pragma once

#include "runtime/device/device.h"

namespace alula::runtime {

/// The instance that a stream or a device of such a driver belongs to.
inline Instance &getInstance(Stream *stream) {
  return *reinterpret_cast<Instance *>(stream);
}

namespace host {
Status open(Instance &instance, Device **device);
void close(Device *device);
uint8_t *allocate(Device *device, uint64_t bytes);
void release(Device *device, uint8_t *memory, uint64_t bytes);
bool reaches(Device *device, const void *memory, uint64_t bytes);
void lend(Device *device, int64_t bytes);
bool readStatistics(Device *device, alula_memory_statistics &statistics);
void trim(Device *device);
Status createStream(Device *device, Stream **stream);
void destroyStream(Stream *stream);
Status synchronize(Stream *stream);
Status copyTo(Stream *stream, uint8_t *to, const void *from, uint64_t bytes);
Status copyFrom(Stream *stream, void *to, const uint8_t *from, uint64_t bytes);
Status copy(Stream *stream, uint8_t *to, const uint8_t *from, uint64_t bytes);
Status fill(Stream *stream, uint8_t *to, uint64_t pattern, uint32_t width,
            uint64_t bytes);
Status readWord(Stream *stream, const uint8_t *from, uint32_t bytes,
                uint64_t *word);
Status writeWord(Stream *stream, uint8_t *to, uint32_t bytes, uint64_t word);
Status createEvent(Device *device, Event **event);
void destroyEvent(Event *event);
Status record(Stream *stream, Event *event);
bool hasHappened(Event *event);

constexpr Driver makeDriver(const char *name, decltype(Driver::load) load,
                            const KernelRunner &runner) {
  return {name,
          /*sharesMemory=*/true,
          /*runsAtOnce=*/true,
          open,
          close,
          load,
          runner,
          allocate,
          release,
          reaches,
          /*allocateOnHost=*/nullptr,
          /*releaseOnHost=*/nullptr,
          lend,
          readStatistics,
          trim,
          createStream,
          destroyStream,
          synchronize,
          copyTo,
          copyFrom,
          copy,
          /*copyFromDevice=*/nullptr,
          fill,
          readWord,
          writeWord,
          createEvent,
          destroyEvent,
          record,
          record,
          hasHappened,
          destroyEvent,
          /*loops=*/nullptr,
          /*collectives=*/nullptr};
}
} // namespace host

} // namespace alula::runtime
