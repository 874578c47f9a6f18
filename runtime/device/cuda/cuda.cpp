// The driver of NVIDIA's GPUs.

#include "runtime/device/cuda/device.h"

#include <cstdio>

namespace alula::runtime {
namespace cuda {
namespace {

CudaDevice &get(Device *device) {
  return *reinterpret_cast<CudaDevice *>(device);
}
CudaStream &get(Stream *stream) {
  return *reinterpret_cast<CudaStream *>(stream);
}
CudaEvent &get(Event *event) { return *reinterpret_cast<CudaEvent *>(event); }

void close(Device *handle) {
  CudaDevice &device = get(handle);
  const Api &api = *device.api;
  if (device.context) {
    {
      Current current(device);
      closeCollectives(device);
      if (device.memoryStream) {
        api.StreamSynchronize(device.memoryStream);
        api.StreamDestroy(device.memoryStream);
      }
      if (device.loops.module)
        api.ModuleUnload(device.loops.module);
      if (device.pool)
        api.MemPoolDestroy(device.pool);
    }
    api.DevicePrimaryCtxRelease(device.number);
  }
  destroy(&device);
}

/// Devices that can read this one's memory may.
void allowPeers(CudaDevice &device) {
  const Api &api = *device.api;
  int count = 0;
  api.DeviceGetCount(&count);
  for (int i = 0; i < count; ++i) {
    DeviceNumber other;
    int can = 0;
    if (api.DeviceGet(&other, i) != success || other == device.number ||
        api.DeviceCanAccessPeer(&can, other, device.number) != success || !can)
      continue;
    PoolAccess access = {{1, other}, 3};
    api.MemPoolSetAccess(device.pool, &access, 1);
  }
}

Status start(CudaDevice &device) {
  const Api &api = *device.api;
  int count = 0, hasPools = 0;
  ALULA_TRY(makeCudaError(api, api.DeviceGetCount(&count), "cuDeviceGetCount"));
  if (device.ordinal >= uint32_t(count) || device.ordinal >= maxDevices)
    return makeError(ALULA_STATUS_NOT_FOUND,
                     "there is no device 'cuda:%u': this machine has %d",
                     device.ordinal, count);
  ALULA_TRY(makeCudaError(
      api, api.DeviceGet(&device.number, int(device.ordinal)), "cuDeviceGet"));
  api.DeviceGetAttribute(&hasPools, memoryPools, device.number);
  if (!hasPools)
    return makeError(ALULA_STATUS_UNIMPLEMENTED,
                     "device 'cuda:%u' has no memory pools", device.ordinal);
  ALULA_TRY(makeCudaError(
      api, api.DevicePrimaryCtxRetain(&device.context, device.number),
      "cuDevicePrimaryCtxRetain"));
  Current current(device);
  ALULA_TRY(makeCudaError(api, current.getResult(), "cuCtxPushCurrent"));
  ALULA_TRY(makeCudaError(
      api, api.StreamCreate(&device.memoryStream, streamNonBlocking),
      "cuStreamCreate"));
  PoolProperties properties = {};
  properties.allocationType = 1;
  properties.location = {1, device.number};
  ALULA_TRY(makeCudaError(api, api.MemPoolCreate(&device.pool, &properties),
                          "cuMemPoolCreate"));
  // What was released is kept for the next allocation.
  uint64_t threshold = UINT64_MAX;
  ALULA_TRY(makeCudaError(
      api,
      api.MemPoolSetAttribute(device.pool, poolReleaseThreshold, &threshold),
      "cuMemPoolSetAttribute"));
  allowPeers(device);
  return nullptr;
}

/// The lowest chip of this machine's: what is loaded serves all of them.
Status findChip(const Api &api, uint32_t *chip, bool *areSame) {
  int count = 0;
  *chip = 0;
  *areSame = true;
  ALULA_TRY(makeCudaError(api, api.DeviceGetCount(&count), "cuDeviceGetCount"));
  for (int i = 0; i < count; ++i) {
    DeviceNumber number;
    int major = 0, minor = 0;
    ALULA_TRY(makeCudaError(api, api.DeviceGet(&number, i), "cuDeviceGet"));
    api.DeviceGetAttribute(&major, capabilityMajor, number);
    api.DeviceGetAttribute(&minor, capabilityMinor, number);
    auto mine = uint32_t(major * 10 + minor);
    *areSame &= !*chip || mine == *chip;
    if (!*chip || mine < *chip)
      *chip = mine;
  }
  return nullptr;
}

Status open(Instance &instance, Device **device) {
  const Api *api;
  ALULA_TRY(getApi(&api));
  auto *made = create<CudaDevice>();
  if (!made)
    return makeOutOfMemory("a device", sizeof(CudaDevice));
  *made = {api, instance.ordinal, 0, nullptr, nullptr, nullptr, {}, nullptr};
  uint32_t chip = 0;
  bool areSame = false;
  Status status = start(*made);
  if (!status)
    status = findChip(*api, &chip, &areSame);
  if (status) {
    close(reinterpret_cast<Device *>(made));
    return status;
  }
  if (areSame)
    snprintf(instance.chip, sizeof instance.chip, "sm_%u", chip);
  *device = reinterpret_cast<Device *>(made);
  return nullptr;
}

// ---- Kernels ----

/// What a variant needs and this machine has not; NULL if it fits.
const char *findMissing(const artifact::Artifact &artifact,
                        const alula_file_variant &variant, uint32_t chip,
                        bool areSame) {
  if (strcmp(artifact.getString(variant.target), "cuda") != 0)
    return artifact.getString(variant.target);
  if (variant.image_kind != ALULA_IMAGE_CUDA)
    return "a plugin that runs texts of PTX";
  for (uint32_t i = 0; i < variant.feature_count; ++i) {
    const char *feature =
        artifact.getString(artifact.lists[variant.first_feature + i]);
    if (strncmp(feature, "sm_", 3) != 0)
      return feature;
    char *end;
    auto wanted = uint32_t(strtoul(feature + 3, &end, 10));
    bool fits = *end == 'a' ? wanted == chip && areSame
                : *end == 'f'
                    ? wanted / 10 == chip / 10 && wanted <= chip && areSame
                    : !*end && wanted <= chip;
    if (!fits)
      return feature;
  }
  return nullptr;
}

Status explainNoFit(const artifact::Artifact &artifact, const char *wanted,
                    uint32_t chip, bool areSame) {
  char needs[512] = "";
  size_t used = 0;
  bool isFound = false;
  for (const alula_file_variant &variant : artifact.variants) {
    const char *name = artifact.getString(variant.name);
    if (wanted && strcmp(wanted, name) != 0)
      continue;
    isFound = true;
    int more = snprintf(needs + used, sizeof needs - used, "%s'%s' needs %s",
                        used ? ", " : "", name,
                        findMissing(artifact, variant, chip, areSame));
    if (more < 0 || size_t(more) >= sizeof needs - used)
      break;
    used += size_t(more);
  }
  if (!isFound)
    return makeError(ALULA_STATUS_NOT_FOUND,
                     "the artifact has no variant%s%s%s", wanted ? " '" : "",
                     wanted ? wanted : "", wanted ? "'" : "");
  return makeError(ALULA_STATUS_FAILED_PRECONDITION,
                   "no variant fits this machine: %s; this is sm_%u; "
                   "alula-compile --target=cuda:sm_%u makes one that fits",
                   needs, chip, chip);
}

Status load(const artifact::Artifact &artifact, const char *wanted,
            LoadedKernels **loaded, uint32_t *chosen) {
  const Api *api;
  ALULA_TRY(getApi(&api));
  uint32_t chip;
  bool areSame;
  ALULA_TRY(findChip(*api, &chip, &areSame));
  uint32_t index = 0;
  for (; index < artifact.variants.size; ++index) {
    const alula_file_variant &variant = artifact.variants[index];
    if ((!wanted || strcmp(wanted, artifact.getString(variant.name)) == 0) &&
        !findMissing(artifact, variant, chip, areSame))
      break;
  }
  if (index == artifact.variants.size)
    return explainNoFit(artifact, wanted, chip, areSame);
  auto *kernels = create<CudaKernels>();
  if (!kernels)
    return makeOutOfMemory("kernels", sizeof(CudaKernels));
  if (Status status = kernels->load(*api, artifact, artifact.variants[index])) {
    destroy(kernels);
    return status;
  }
  *loaded = reinterpret_cast<LoadedKernels *>(kernels);
  *chosen = index;
  return nullptr;
}
void unload(LoadedKernels *kernels) {
  destroy(reinterpret_cast<CudaKernels *>(kernels));
}
Status dispatch(Stream *stream, LoadedKernels *kernels,
                const Dispatch &dispatch) {
  return get(stream).dispatch(*reinterpret_cast<CudaKernels *>(kernels),
                              dispatch);
}

// ---- Memory ----

uint8_t *allocate(Device *handle, uint64_t bytes) {
  CudaDevice &device = get(handle);
  Current current(device);
  DeviceAddress address = 0;
  if (device.api->MemAllocFromPoolAsync(&address, bytes ? bytes : 1,
                                        device.pool,
                                        device.memoryStream) != success ||
      device.api->StreamSynchronize(device.memoryStream) != success)
    return nullptr;
  return reinterpret_cast<uint8_t *>(address);
}
void release(Device *handle, uint8_t *memory, uint64_t) {
  CudaDevice &device = get(handle);
  if (!memory)
    return;
  Current current(device);
  device.api->MemFreeAsync(reinterpret_cast<DeviceAddress>(memory),
                           device.memoryStream);
}
uint8_t *allocateOnHost(Device *handle, uint64_t bytes) {
  CudaDevice &device = get(handle);
  Current current(device);
  void *memory = nullptr;
  return device.api->MemHostAlloc(&memory, bytes ? bytes : 1,
                                  hostPortable | hostMapped) == success
             ? static_cast<uint8_t *>(memory)
             : nullptr;
}
void releaseOnHost(Device *handle, uint8_t *memory, uint64_t) {
  CudaDevice &device = get(handle);
  Current current(device);
  device.api->MemFreeHost(memory);
}
bool reaches(Device *handle, const void *memory, uint64_t bytes) {
  CudaDevice &device = get(handle);
  const Api &api = *device.api;
  Current current(device);
  auto address = reinterpret_cast<DeviceAddress>(memory);
  unsigned type = 0;
  int ordinal = -1;
  DeviceAddress begin = 0;
  size_t size = 0;
  return api.PointerGetAttribute(&type, pointerType, address) == success &&
         type == 2 &&
         api.PointerGetAttribute(&ordinal, pointerDevice, address) == success &&
         ordinal == device.number &&
         api.PointerGetAttribute(&begin, rangeStart, address) == success &&
         api.PointerGetAttribute(&size, rangeSize, address) == success &&
         address - begin <= size && bytes <= size - (address - begin);
}

// ---- Streams and events ----

Status createStream(Device *device, Stream **stream) {
  auto *made = create<CudaStream>(get(device));
  if (!made)
    return makeOutOfMemory("a stream", sizeof(CudaStream));
  if (Status status = made->start()) {
    destroy(made);
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

Status createEvent(Device *handle, Event **event) {
  CudaDevice &device = get(handle);
  auto *made = create<CudaEvent>();
  if (!made)
    return makeOutOfMemory("an event", sizeof(CudaEvent));
  *made = {&device, nullptr};
  Current current(device);
  if (Status status = makeCudaError(
          *device.api, device.api->EventCreate(&made->handle, eventNoTiming),
          "cuEventCreate")) {
    destroy(made);
    return status;
  }
  *event = reinterpret_cast<Event *>(made);
  return nullptr;
}
void destroyEvent(Event *event) {
  CudaEvent &mine = get(event);
  {
    Current current(*mine.device);
    mine.device->api->EventDestroy(mine.handle);
  }
  destroy(&mine);
}
Status record(Stream *stream, Event *event) {
  return get(stream).record(get(event));
}
Status waitInStream(Stream *stream, Event *event) {
  return get(stream).wait(get(event));
}
bool hasHappened(Event *event) {
  CudaEvent &mine = get(event);
  Current current(*mine.device);
  return mine.device->api->EventQuery(mine.handle) != notReady;
}
void waitForEvent(Event *event) {
  CudaEvent &mine = get(event);
  Current current(*mine.device);
  mine.device->api->EventSynchronize(mine.handle);
}

// ---- Loops ----

Status beginLoop(Stream *stream, const int *cancel, bool *isTaken) {
  return get(stream).beginLoop(cancel, isTaken);
}
Status testLoop(Stream *stream, const uint8_t *condition,
                LoopRecorder::Place place) {
  return get(stream).testLoop(condition, place);
}
Status endLoop(Stream *stream, const Exchange *exchanges, size_t count,
               bool isLoop, bool *isTaken) {
  return get(stream).endLoop(exchanges, count, isLoop, isTaken);
}
Status choose(Stream *stream, const uint8_t *index, LoopRecorder::Index kind,
              uint32_t count, const int *cancel, bool *isTaken) {
  return get(stream).choose(index, kind, count, cancel, isTaken);
}
Status beginBranch(Stream *stream) { return get(stream).beginBranch(); }
Status endBranch(Stream *stream, const Exchange *exchanges, size_t count) {
  return get(stream).endBranch(exchanges, count);
}
Status endChoice(Stream *stream, bool isChoice, bool *isTaken) {
  return get(stream).endChoice(isChoice, isTaken);
}
const LoopRecorder loopRecorder = {beginLoop,   testLoop,  endLoop,  choose,
                                   beginBranch, endBranch, endChoice};

// ---- Collectives ----

Status startCollective(Stream *stream, const ParticipantCall &call,
                       const GroupMembers &members, const Collective &what,
                       CollectiveRequest *request) {
  return get(stream).startCollective(call, members, what, request);
}
Status endCollective(Stream *stream, const CollectiveRequest *request) {
  return get(stream).endCollective(request);
}
void settleCollectives(Stream *stream, const ParticipantCall &call,
                       const char *failure) {
  get(stream).settleCollectives(call, failure);
}
const DeviceCollectives deviceCollectives = {startCollective, endCollective,
                                             settleCollectives};
} // namespace
} // namespace cuda

const Driver cudaDriver = {"cuda",
                           /*sharesMemory=*/false,
                           /*runsAtOnce=*/false,
                           cuda::open,
                           cuda::close,
                           cuda::load,
                           {cuda::unload, cuda::dispatch},
                           cuda::allocate,
                           cuda::release,
                           cuda::reaches,
                           cuda::allocateOnHost,
                           cuda::releaseOnHost,
                           /*lend=*/nullptr,
                           /*readStatistics=*/nullptr,
                           /*trim=*/nullptr,
                           cuda::createStream,
                           cuda::destroyStream,
                           cuda::synchronize,
                           cuda::copyTo,
                           cuda::copyFrom,
                           cuda::copy,
                           cuda::copyFromDevice,
                           cuda::fill,
                           cuda::readWord,
                           cuda::writeWord,
                           cuda::createEvent,
                           cuda::destroyEvent,
                           cuda::record,
                           cuda::waitInStream,
                           cuda::hasHappened,
                           cuda::waitForEvent,
                           &cuda::loopRecorder,
                           &cuda::deviceCollectives};

} // namespace alula::runtime
