// Beginning and end of an instance, and its streams.

#include "runtime/device/device.h"

namespace alula::runtime {

Status makeKernelError(const char *functionName, const char *kernelName,
                       int32_t code) {
  if (code == ALULA_KERNEL_CANCELLED)
    return makeError(ALULA_STATUS_CANCELLED,
                     "function '%.200s': the call was cancelled", functionName);
  return makeError(ALULA_STATUS_INTERNAL,
                   "function '%.200s': kernel '%.100s' failed with code %d",
                   functionName, kernelName, code);
}

Status startInstance(Instance &instance) {
  const Driver &driver = *instance.driver;
  ALULA_TRY(driver.open(instance, &instance.device));
  if (!driver.runsAtOnce)
    return nullptr;
  return driver.createStream(instance.device, &instance.sharedStream);
}

Status takeIdleStream(Instance &instance, Stream **stream) {
  {
    Lock lock(instance.streamMutex);
    size_t count = instance.idleStreams.size();
    if (count) {
      *stream = instance.idleStreams[count - 1];
      // Shrinking never allocates.
      (void)!instance.idleStreams.resize(count - 1);
      return nullptr;
    }
  }
  return instance.driver->createStream(instance.device, stream);
}

void returnIdleStream(Instance &instance, Stream *stream) {
  {
    Lock lock(instance.streamMutex);
    if (instance.idleStreams.push(stream))
      return;
  }
  instance.driver->destroyStream(stream);
}

Status StreamUse::finishStream(Status status) {
  Status later = instance.driver->synchronize(stream);
  if (!status)
    return later;
  alula_error_destroy(later);
  return status;
}

void StreamUse::leave() {
  alula_error_destroy(instance.driver->synchronize(stream));
  returnIdleStream(instance, stream);
}

void destroyInstance(Instance *instance) {
  if (instance->queue)
    instance->destroyQueue(instance->queue);
  const Driver &driver = *instance->driver;
  for (Stream *stream : instance->idleStreams)
    driver.destroyStream(stream);
  if (instance->sharedStream)
    driver.destroyStream(instance->sharedStream);
  if (instance->device)
    driver.close(instance->device);
  for (const CustomCall &call : instance->customCalls)
    free(call.name);
  for (size_t i = instance->importProviders.size(); i > 0; --i) {
    const ImportProvider &provider = instance->importProviders[i - 1];
    if (provider.table.unload)
      provider.table.unload(provider.self);
  }
  Instance *threadOwner = instance->threadOwner;
  destroy(instance);
  if (threadOwner)
    release(threadOwner);
}

} // namespace alula::runtime
