// A device for tests: the CPU's kernels on memory that the host can't reach,
// in streams that lag. What works here keeps to the driver's table; what reads
// or writes behind its back ends the process.

#include "runtime/device/afar/stream.h"

namespace alula::runtime {
namespace {

AfarDevice &get(Device *device) {
  return *reinterpret_cast<AfarDevice *>(device);
}
AfarStream &get(Stream *stream) {
  return *reinterpret_cast<AfarStream *>(stream);
}
AfarEvent &get(Event *event) { return *reinterpret_cast<AfarEvent *>(event); }

Status open(Instance &instance, Device **device) {
  auto *made = create<AfarDevice>(instance);
  if (!made)
    return makeOutOfMemory("a device", sizeof(AfarDevice));
  if (Status status = made->memory.open()) {
    destroy(made);
    return status;
  }
  *device = reinterpret_cast<Device *>(made);
  return nullptr;
}
void close(Device *device) { destroy(&get(device)); }

Status load(const artifact::Artifact &artifact, const char *wanted,
            LoadedKernels **kernels, uint32_t *variant) {
  return cpuDriver.load(artifact, wanted, kernels, variant);
}
void unload(LoadedKernels *kernels) { cpuDriver.runner.unload(kernels); }

Status dispatch(Stream *stream, LoadedKernels *kernels,
                const Dispatch &dispatch) {
  return get(stream).dispatch(kernels, dispatch);
}

uint8_t *allocate(Device *device, uint64_t bytes) {
  return get(device).memory.allocate(bytes);
}
void release(Device *device, uint8_t *memory, uint64_t bytes) {
  get(device).memory.release(memory, bytes);
}
bool reaches(Device *device, const void *memory, uint64_t bytes) {
  return get(device).memory.contains(memory, bytes);
}

Status createStream(Device *device, Stream **stream) {
  auto *made = create<AfarStream>(get(device));
  if (!made)
    return makeOutOfMemory("a stream", sizeof(AfarStream));
  if (Status status = made->start()) {
    // Without its thread there is nothing to destroy.
    free(made);
    return status;
  }
  *stream = reinterpret_cast<Stream *>(made);
  return nullptr;
}
void destroyStream(Stream *stream) { destroy(&get(stream)); }
Status synchronize(Stream *stream) { return get(stream).synchronize(); }

Status copyTo(Stream *stream, uint8_t *to, const void *from, uint64_t bytes) {
  return get(stream).copyTo(to, from, bytes);
}
Status copyFrom(Stream *stream, void *to, const uint8_t *from, uint64_t bytes) {
  return get(stream).copyFrom(to, from, bytes);
}
Status copy(Stream *stream, uint8_t *to, const uint8_t *from, uint64_t bytes) {
  return get(stream).copy(to, from, bytes);
}
Status copyFromDevice(Stream *stream, uint8_t *to, Device *device,
                      const uint8_t *from, uint64_t bytes) {
  return get(stream).copyFromDevice(to, get(device), from, bytes);
}
Status fill(Stream *stream, uint8_t *to, uint64_t pattern, uint32_t width,
            uint64_t bytes) {
  return get(stream).fill(to, pattern, width, bytes);
}
Status readWord(Stream *stream, const uint8_t *from, uint32_t bytes,
                uint64_t *word) {
  uint64_t bits = 0;
  ALULA_TRY(get(stream).copyFrom(&bits, from, bytes));
  *word = bits;
  return nullptr;
}
Status writeWord(Stream *stream, uint8_t *to, uint32_t bytes, uint64_t word) {
  return get(stream).copyTo(to, &word, bytes);
}

Status createEvent(Device *, Event **event) {
  auto *made = create<AfarEvent>();
  if (!made)
    return makeOutOfMemory("an event", sizeof(AfarEvent));
  *event = reinterpret_cast<Event *>(made);
  return nullptr;
}
void destroyEvent(Event *event) { destroy(&get(event)); }
Status record(Stream *stream, Event *event) {
  return get(stream).record(get(event));
}
Status waitInStream(Stream *stream, Event *event) {
  return get(stream).waitInStream(get(event));
}
bool hasHappened(Event *event) {
  return get(event).hasReached(get(event).getWanted());
}
void waitForEvent(Event *event) { get(event).waitFor(get(event).getWanted()); }

} // namespace

const Driver afarDriver = {"afar",
                           /*sharesMemory=*/false,
                           /*runsAtOnce=*/false,
                           open,
                           close,
                           load,
                           {unload, dispatch},
                           allocate,
                           release,
                           reaches,
                           /*allocateOnHost=*/nullptr,
                           /*releaseOnHost=*/nullptr,
                           /*lend=*/nullptr,
                           /*readStatistics=*/nullptr,
                           /*trim=*/nullptr,
                           createStream,
                           destroyStream,
                           synchronize,
                           copyTo,
                           copyFrom,
                           copy,
                           copyFromDevice,
                           fill,
                           readWord,
                           writeWord,
                           createEvent,
                           destroyEvent,
                           record,
                           waitInStream,
                           hasHappened,
                           waitForEvent,
                           /*loops=*/nullptr,
                           /*collectives=*/nullptr};

} // namespace alula::runtime
