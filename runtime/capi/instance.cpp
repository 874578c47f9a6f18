#include "runtime/capi/drivers.h"

using namespace alula::runtime;

uint32_t alula_runtime_version(void) { return ALULA_RUNTIME_VERSION; }

alula_error *alula_instance_create(const alula_instance_options *options,
                                   alula_instance **instance) {
  if (!instance)
    return makeError(ALULA_STATUS_INVALID_ARGUMENT,
                     "alula_instance_create: the result is null");
  alula_instance_options mine = {};
  if (options)
    memcpy(&mine, options,
           options->struct_bytes < sizeof mine ? options->struct_bytes
                                               : sizeof mine);
  const char *name = mine.device ? mine.device : "cpu";
  const Driver *driver;
  uint32_t ordinal;
  ALULA_TRY(findDriver(name, &driver, &ordinal));
  Allocator allocator;
  if (mine.allocator) {
    if (!mine.allocator->allocate || !mine.allocator->release)
      return makeError(ALULA_STATUS_INVALID_ARGUMENT,
                       "the allocator lacks one of its functions");
    allocator = Allocator(*mine.allocator);
  }
  if (mine.thread_pool && !mine.thread_pool->run)
    return makeError(ALULA_STATUS_INVALID_ARGUMENT,
                     "the thread pool lacks its function");
  if (mine.share_threads && (mine.thread_pool || mine.thread_count))
    return makeError(ALULA_STATUS_INVALID_ARGUMENT,
                     "an instance that shares threads has neither a thread "
                     "count nor a thread pool of its own");
  Instance *made;
  if (mine.share_threads)
    made = create<Instance>(driver, allocator,
                            *reinterpret_cast<Instance *>(mine.share_threads));
  else if (mine.thread_pool)
    made = create<Instance>(driver, allocator, *mine.thread_pool);
  else
    made = create<Instance>(driver, allocator, mine.thread_count);
  if (!made)
    return makeOutOfMemory("an instance", sizeof(Instance));
  made->ordinal = ordinal;
  made->keptBytes = mine.kept_bytes;
  if (Status status = startInstance(*made)) {
    release(made);
    return status;
  }
  *instance = reinterpret_cast<alula_instance *>(made);
  return nullptr;
}

void alula_instance_destroy(alula_instance *instance) {
  if (instance)
    release(reinterpret_cast<Instance *>(instance));
}

uint32_t alula_instance_get_thread_count(const alula_instance *instance) {
  auto *mine = reinterpret_cast<const Instance *>(instance);
  return mine ? mine->pool.getWorkerCount() : 0;
}

const char *alula_instance_get_device(const alula_instance *instance) {
  auto *mine = reinterpret_cast<const Instance *>(instance);
  return mine ? mine->driver->name : "";
}

const char *alula_instance_get_chip(const alula_instance *instance) {
  auto *mine = reinterpret_cast<const Instance *>(instance);
  return mine ? mine->chip : "";
}

int alula_instance_shares_memory(const alula_instance *instance) {
  auto *mine = reinterpret_cast<const Instance *>(instance);
  return mine && mine->driver->sharesMemory;
}

int alula_instance_get_memory_statistics(const alula_instance *instance,
                                         alula_memory_statistics *statistics) {
  auto *mine = reinterpret_cast<const Instance *>(instance);
  alula_memory_statistics read = {};
  if (!mine || !statistics || !mine->driver->readStatistics ||
      !mine->driver->readStatistics(mine->device, read))
    return false;
  read.struct_bytes = statistics->struct_bytes;
  memcpy(statistics, &read,
         read.struct_bytes < sizeof read ? read.struct_bytes : sizeof read);
  return true;
}

void alula_instance_trim_memory(alula_instance *instance) {
  auto *mine = reinterpret_cast<Instance *>(instance);
  if (mine && mine->driver->trim)
    mine->driver->trim(mine->device);
}

alula_error *alula_instance_register_custom_call(alula_instance *handle,
                                                 const char *name,
                                                 alula_custom_call function,
                                                 void *user) {
  if (!handle || !name || !function)
    return makeError(
        ALULA_STATUS_INVALID_ARGUMENT,
        "alula_instance_register_custom_call: an argument is null");
  auto *instance = reinterpret_cast<Instance *>(handle);
  Lock lock(instance->customCallMutex);
  for (const CustomCall &call : instance->customCalls)
    if (strcmp(call.name, name) == 0)
      return makeError(ALULA_STATUS_ALREADY_EXISTS,
                       "custom call '%s' is registered already", name);
  char *copy = strdup(name);
  if (!copy || !instance->customCalls.push({copy, function, user})) {
    free(copy);
    return makeOutOfMemory("a custom call", sizeof(CustomCall));
  }
  return nullptr;
}
